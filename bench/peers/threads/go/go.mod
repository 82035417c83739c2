module threads

go 1.22
