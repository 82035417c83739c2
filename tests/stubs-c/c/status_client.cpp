/* A client of statuses.proto in C++: makes its procedures fail, and says how many things it has
 * looked at. */
#include "check.h"
#include "statuses.hpp"

namespace statuses = nearcall::idl::statuses;
using nearcall::idl::grpc::RpcCode;
using nearcall::idl::grpc::RpcStatus;

namespace {

/* What a call throws has to be that. */
template <typename Call>
RpcStatus raised(Call &&call) {
    try {
        call();
    } catch (const RpcStatus &status) {
        return status;
    }
    return RpcStatus(RpcCode::UNKNOWN, "nothing was thrown");
}

void find(const statuses::Shelf &shelf) {
    CHECK(shelf.Find({"1"}).text == "here");
    const RpcStatus lost = raised([&] { shelf.Find({"496"}); });
    CHECK(lost.code == RpcCode::NOT_FOUND && lost.message == "no book 496");
    CHECK(lost.what() ==
          std::string("grpc::RpcStatus: code = NOT_FOUND, message = \"no book 496\""));
    CHECK(std::string(lost.details.begin(), lost.details.end()) == "496");
    const RpcStatus bad = raised([&] { shelf.Find({""}); });
    CHECK(bad.code == RpcCode::INVALID_ARGUMENT && bad.message == "no number");
    const RpcStatus silent = raised([&] { shelf.Find({"silent"}); });
    CHECK(silent.code == RpcCode::UNAVAILABLE && silent.message.empty());
    CHECK(silent.details.empty());
    bool has_panicked = false;
    try {
        shelf.Find({"broken"});
    } catch (const nearcall::call_error &error) {
        has_panicked = error.outcome == NEARCALL_PANICKED;
    }
    CHECK(has_panicked);
}

void stream(const statuses::Shelf &shelf) {
    int count = 0;
    const RpcStatus over = raised([&] {
        for (const statuses::Book &book : shelf.List({"7"})) {
            CHECK(book.isbn == "7");
            count++;
        }
    });
    CHECK(count == 2 && over.code == RpcCode::NOT_FOUND && over.message == "no more books");
    const RpcStatus bad = raised([&] {
        auto fill = shelf.Fill();
        fill.put({""});
        fill.end();
    });
    CHECK(bad.code == RpcCode::INVALID_ARGUMENT && bad.message == "no number");
}

} // namespace

int main(int argc, char **argv) {
    CHECK(argc == 2);
    nearcall::domain domain;
    const statuses::Shelf shelf(domain, argv[1]);
    find(shelf);
    stream(shelf);
    printf("%u\n", checks);
    return 0;
}
