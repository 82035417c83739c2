/* A server of deferring.idl in C++ that has one processor: calls are set aside, and whoever likes
 * replies. */
#include <dirent.h>
#include <sys/wait.h>

#include <mutex>
#include <thread>

#include "check.h"
#include "deferring.hpp"
#include "serve.h"

using namespace nearcall::idl::deferring;

struct Kept {
    std::int32_t number;
    nearcall::answer<std::int32_t> answer;
};

static void end(Kept kept, How how) {
    switch (how) {
    case How::RAISED:
        kept.answer.raise(Refused("it was kept", kept.number));
        CHECK(!kept.answer && !kept.answer.current());
        break;
    case How::PANICKED:
        kept.answer.raise(std::runtime_error("it was told to"));
        break;
    case How::NOTHING_RAISED:
        if (kept.number == 0) {
            // Outside of a handler.
            kept.answer.raise(std::current_exception());
            break;
        }
        try {
            throw 7;
        } catch (...) {
            kept.answer.raise(std::current_exception());
        }
        break;
    case How::DROPPED: {
        auto other = std::move(kept.answer);
        kept.answer(kept.number);
        CHECK(other && !kept.answer);
        break;
    }
    default:
        kept.answer(kept.number);
        // Once.
        kept.answer(-1);
        kept.answer.raise(Refused("twice", 2));
    }
}

static Note twice(const Note &note) {
    Note both{note.text + note.text, note.marks, {}};
    both.marks.insert(both.marks.end(), note.marks.begin(), note.marks.end());
    if (note.more) {
        both.more = *note.more + *note.more;
    }
    return both;
}

class Deferrer : public LaterAsyncServer {
  public:
    void keep(std::int32_t number, nearcall::answer<std::int32_t> &&answer) override {
        std::lock_guard<std::mutex> alone(lock_);
        kept_.push_back({number, std::move(answer)});
        if (number < 0) {
            throw std::runtime_error("it was kept");
        }
    }
    void go(How how, nearcall::answer<std::uint32_t> &&answer) override {
        std::vector<Kept> all;
        {
            std::lock_guard<std::mutex> alone(lock_);
            all.swap(kept_);
        }
        const auto count = static_cast<std::uint32_t>(all.size());
        auto end_all = [&] {
            for (std::size_t index = 0; index < all.size(); index++) {
                end(std::move(all[how == How::BACKWARD ? all.size() - 1 - index : index]), how);
            }
        };
        if (how == How::BY_THREAD) {
            std::thread(end_all).join();
        } else {
            end_all();
        }
        answer(count);
    }
    void kept(nearcall::answer<std::uint32_t, std::uint32_t> &&answer) override {
        std::lock_guard<std::mutex> alone(lock_);
        std::uint32_t cancelled = 0;
        for (const auto &one : kept_) {
            cancelled += one.answer.current()->is_cancelled();
        }
        answer(static_cast<std::uint32_t>(kept_.size()), cancelled);
    }
    void tell(std::string text, nearcall::answer<> &&answer) override {
        std::lock_guard<std::mutex> alone(lock_);
        told_ = std::move(text);
        told_count_++;
        answer();
    }
    void told(nearcall::answer<std::string, std::uint32_t> &&answer) override {
        std::lock_guard<std::mutex> alone(lock_);
        answer(told_, told_count_);
    }
    void mix(std::string text, Note note, Prices prices, Note changed, std::int64_t word,
             nearcall::answer<Note, Note, std::int64_t, std::string, Notes, double> &&answer)
        override {
        if (text.empty()) {
            // As other procedures do: it has the answer still.
            throw Refused("no text", 7);
        }
        // What a thread throws ends the program.
        std::thread([text = std::move(text), note = std::move(note), changed = std::move(changed),
                     prices, word, answer = std::move(answer)]() mutable {
            const auto both = twice(note);
            answer(both, twice(changed), 2 * word, text + text, {both, both},
                   prices[0] + prices[1] + prices[2]);
        }).join();
    }
    void many(std::uint32_t count, nearcall::answer<std::vector<std::int32_t>> &&answer) override {
        answer(std::vector<std::int32_t>(count));
    }
    void swap(nearcall::descriptor file, std::string text, nearcall::descriptor other,
              nearcall::answer<nearcall::descriptor, nearcall::descriptor> &&answer) override {
        if (text == "refused") {
            answer.raise(Refused("descriptors", 3));
        } else if (text != "dropped") {
            answer(std::move(other), std::move(file));
        }
    }
    void left(nearcall::answer<std::uint64_t, std::int64_t> &&answer) override {
        std::thread([answer = std::move(answer)]() mutable {
            const auto call = answer.current();
            CHECK(!nearcall::current_call() && call && !call->is_cancelled());
            const auto left = call->time_left();
            answer(left ? static_cast<std::uint64_t>(left->count()) : UINT64_MAX,
                   call->importer().pid);
            CHECK(call->is_cancelled());
        }).join();
    }
    std::uint32_t measure(const nearcall::opaque &octets) override {
        return static_cast<std::uint32_t>(octets.size());
    }
    void forked(nearcall::answer<std::int32_t> &&answer) override {
        int status = 1;
        const pid_t child = fork();
        CHECK(child >= 0);
        if (child == 0) {
            end_each();
            _exit(0);
        }
        CHECK(waitpid(child, &status, 0) == child);
        answer(status);
    }
    void open_count(nearcall::answer<std::uint32_t> &&answer) override {
        DIR *directory = opendir("/proc/self/fd");
        CHECK(directory != nullptr);
        std::uint32_t count = 0;
        while (readdir(directory) != nullptr) {
            count++;
        }
        closedir(directory);
        answer(count);
    }

    /* Replies or lets go. */
    void end_each() {
        bool is_dropped = true;
        for (auto &kept : std::exchange(kept_, {})) {
            end(std::move(kept), std::exchange(is_dropped, !is_dropped) ? How::DROPPED
                                                                       : How::FORWARD);
        }
    }
    /* One that nobody ever replies to, as long as the program. */
    void forget_last() {
        static auto &forgotten = *new std::vector<Kept>;
        if (!kept_.empty()) {
            forgotten.push_back(std::move(kept_.back()));
            kept_.pop_back();
        }
    }

  private:
    std::mutex lock_;
    std::vector<Kept> kept_;
    std::uint32_t told_count_ = 0;
    std::string told_;
};

int main(int argc, char **argv) {
    CHECK(argc == 2);
    nearcall::domain_options options;
    options.processors_max = 1;
    nearcall::domain domain(options);
    Deferrer server;
    LaterAsyncClerk clerk(domain, argv[1], server);
    until_input_ends();
    domain.shut_down();
    /* Who shuts down does not wait for them: they may be replied to, or never be. */
    server.forget_last();
    server.end_each();
    return 0;
}
