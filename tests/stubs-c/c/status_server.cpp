/* A server of statuses.proto in C++: exports it until its standard input ends. */
#include "check.h"
#include "serve.h"
#include "statuses.hpp"

namespace statuses = nearcall::idl::statuses;
using nearcall::idl::grpc::RpcCode;
using nearcall::idl::grpc::RpcStatus;

namespace {

struct Listed : nearcall::items<statuses::Book> {
    statuses::Book book;
    int count = 0;

    bool next(statuses::Book &item) override {
        if (count++ == 2) {
            throw RpcStatus(RpcCode::NOT_FOUND, "no more books");
        }
        item = book;
        return true;
    }
};

struct Filled : nearcall::taker<statuses::Book, statuses::Status> {
    int count = 0;

    void take(const statuses::Book &item) override {
        if (item.isbn.empty()) {
            throw RpcStatus(RpcCode::INVALID_ARGUMENT, "no number");
        }
        count++;
    }

    statuses::Status end() override { return {std::to_string(count)}; }
};

struct Shelf : statuses::ShelfServer {
    statuses::Status Find(const statuses::Book &request) override {
        const std::string &isbn = request.isbn;
        if (isbn.empty()) {
            throw RpcStatus(RpcCode::INVALID_ARGUMENT, "no number");
        }
        if (isbn == "silent") {
            throw RpcStatus(RpcCode::UNAVAILABLE);
        }
        if (isbn == "broken") {
            throw std::runtime_error("it is broken");
        }
        if (isbn != "1") {
            throw RpcStatus(RpcCode::NOT_FOUND, "no book " + isbn, {isbn.begin(), isbn.end()});
        }
        return {"here"};
    }

    std::unique_ptr<nearcall::items<statuses::Book>> List(const statuses::Book &request) override {
        auto made = std::make_unique<Listed>();
        made->book = request;
        return made;
    }

    std::unique_ptr<nearcall::taker<statuses::Book, statuses::Status>> Fill() override {
        return std::make_unique<Filled>();
    }
};

} // namespace

int main(int argc, char **argv) {
    CHECK(argc == 2);
    nearcall::domain domain;
    Shelf shelf;
    statuses::ShelfClerk clerk(domain, argv[1], shelf);
    nearcall::orderly_end end(domain);
    until_input_ends();
    return 0;
}
