// `notes-server-cpp NAME`: keeps notes in memory, and exports them until it is interrupted, in C++.
#include <csignal>
#include <iostream>
#include <mutex>
#include <string>
#include <vector>

#include "notes.hpp"

namespace desk = nearcall::idl::desk;

// Procedures run on threads of the domain's, several at once.
class Desk : public desk::NotesServer {
  public:
    // The argument is lent for the time of the call: what is kept is a copy.
    std::uint32_t keep(const std::string &text) override {
        const std::lock_guard<std::mutex> locked(lock_);
        notes_.push_back({static_cast<std::uint32_t>(notes_.size() + 1), text});
        return notes_.back().number;
    }

    desk::Note read(std::uint32_t number) override {
        const std::lock_guard<std::mutex> locked(lock_);
        if (number < 1 || number > notes_.size()) {
            throw desk::NoSuchNote(number);
        }
        return notes_[number - 1];
    }

    std::vector<desk::Note> all() override {
        const std::lock_guard<std::mutex> locked(lock_);
        return notes_;
    }

  private:
    std::mutex lock_;
    std::vector<desk::Note> notes_;
};

int main(int argc, char **argv) {
    if (argc != 2) {
        std::cerr << "usage: notes-server-cpp NAME\n";
        return 2;
    }
    // Before there are other threads, which are to leave these signals alone.
    sigset_t ends;
    sigemptyset(&ends);
    sigaddset(&ends, SIGINT);
    sigaddset(&ends, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &ends, nullptr);
    try {
        nearcall::domain domain;
        Desk notes;
        desk::NotesClerk clerk(domain, argv[1], notes);
        // Goes first, however this is left: calls may run until the domain is shut down, and need
        // the clerk and what it serves.
        nearcall::orderly_end end(domain);
        std::cout << argv[1] << " is exported" << std::endl;
        int received;
        sigwait(&ends, &received);
    } catch (const nearcall::call_error &error) {
        std::cerr << "notes-server-cpp: " << error.what() << "\n";
        return 1;
    }
}
