// `notes-client-cpp NAME`: keeps a note, reads all, and asks for one that there is not, in C++.
#include <iostream>

#include "notes.hpp"

namespace desk = nearcall::idl::desk;

int main(int argc, char **argv) {
    if (argc != 2) {
        std::cerr << "usage: notes-client-cpp NAME\n";
        return 2;
    }
    try {
        nearcall::domain domain;
        desk::Notes notes(domain, argv[1]);
        const auto number = notes.keep("written in C++");
        for (const desk::Note &note : notes.all()) {
            std::cout << note.number << ": " << note.text << "\n";
        }
        try {
            notes.read(number + 1);
        } catch (const desk::NoSuchNote &none) {
            std::cout << "there is no note " << none.number << "\n";
        }
    } catch (const nearcall::call_error &error) {
        static const char *const ran[] = {"did not run", "may have run", "ran"};
        std::cerr << error.what() << "; the procedure " << ran[error.ran] << "\n";
        return 1;
    }
}
