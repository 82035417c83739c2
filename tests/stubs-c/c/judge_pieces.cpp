/* Ends where what it is sent is read as anything but what that says, in C++: as judge_pieces.c. */
#include "check.h"
#include "pieces.hpp"
#include "serve.h"

using namespace nearcall::idl::pieces;

namespace {

std::string told(const Piece &piece) {
    const auto &what = piece.what;
    std::string text = "-";
    if (what._d == 1) {
        text = std::to_string(std::get<1>(what._u));
    } else if (what._d == 2) {
        text = std::get<2>(what._u);
    } else if (what._d == 3) {
        text = "(" + told(*std::get<3>(what._u)) + ")";
    } else {
        CHECK(what._d == 0);
    }
    return text + "/" + std::to_string(piece.after);
}

struct Looking : JudgeServer {
    void Look(const Heap &request) override {
        std::string text;
        for (const Piece &piece : request.listed) {
            text += told(piece) + ",";
        }
        text += ";";
        for (const auto &pair : request.mapped) {
            text += told(pair.second) + ",";
        }
        CHECK(text == request.want);
    }
};

} // namespace

int main(int argc, char **argv) {
    CHECK(argc == 2);
    nearcall::domain domain;
    Looking judge;
    JudgeClerk clerk(domain, argv[1], judge);
    nearcall::orderly_end end(domain);
    until_input_ends();
    return 0;
}
