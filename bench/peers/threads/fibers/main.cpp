// Fibers of Boost on one kernel thread, for the table `threads`: as `../src/main.rs` says it.

#include <boost/fiber/all.hpp>
#include <boost/version.hpp>

#include <chrono>
#include <cstdint>
#include <iostream>
#include <memory>
#include <mutex>
#include <sstream>
#include <string>
#include <vector>

namespace fibers = boost::fibers;

// Fibers that are forked before they run.
constexpr int together = 64;

// Fresh stacks would be most of what a fork costs.
using Stacks = fibers::pooled_fixedsize_stack;

// Two fibers that wait for each other.
struct Pair {
    fibers::mutex lock;
    fibers::condition_variable ours;
    fibers::condition_variable theirs;
    bool is_theirs = false;
    bool is_over = false;
};

// The other fiber of the pair.
void play(const std::string &which, Pair &pair) {
    if (which == "yield") {
        while (!pair.is_over) {
            boost::this_fiber::yield();
        }
    } else if (which == "pingpong") {
        std::unique_lock<fibers::mutex> lock(pair.lock);
        while (!pair.is_over) {
            if (pair.is_theirs) {
                pair.is_theirs = false;
                pair.ours.notify_one();
            }
            pair.theirs.wait(lock);
        }
    }
}

template <typename Body> fibers::fiber fork(Stacks &stacks, Body body) {
    return fibers::fiber(std::allocator_arg, stacks, body);
}

// So many operations.
void batch(const std::string &which, int count, Pair &pair, Stacks &stacks) {
    if (which == "fork") {
        int ended = 0;
        for (int forked = 1; forked <= count; forked++) {
            fork(stacks, [&ended] { ended++; }).detach();
            while (forked % together == 0 && ended < forked) {
                boost::this_fiber::yield();
            }
        }
    } else if (which == "fork-join") {
        for (int forked = 0; forked < count; forked++) {
            fork(stacks, [] {}).join();
        }
    } else if (which == "yield") {
        for (int yields = 0; yields < count / 2; yields++) {
            boost::this_fiber::yield();
        }
    } else {
        std::unique_lock<fibers::mutex> lock(pair.lock);
        for (int trips = 0; trips < count / 2; trips++) {
            pair.is_theirs = true;
            pair.theirs.notify_one();
            while (pair.is_theirs) {
                pair.ours.wait(lock);
            }
        }
    }
}

bool is_case(const std::string &which) {
    return which == "fork" || which == "fork-join" || which == "yield" || which == "pingpong";
}

// Nanoseconds of each batch.
std::vector<std::int64_t> time(const std::string &which, int warm_up, int batches, int size) {
    Stacks stacks;
    Pair pair;
    fibers::fiber other = fork(stacks, [&which, &pair] { play(which, pair); });
    batch(which, warm_up, pair, stacks);
    std::vector<std::int64_t> times;
    for (int index = 0; index < batches; index++) {
        const auto start = std::chrono::steady_clock::now();
        batch(which, size, pair, stacks);
        const auto elapsed = std::chrono::steady_clock::now() - start;
        times.push_back(std::chrono::duration_cast<std::chrono::nanoseconds>(elapsed).count());
    }
    {
        std::unique_lock<fibers::mutex> lock(pair.lock);
        pair.is_over = true;
        pair.theirs.notify_one();
    }
    other.join();
    return times;
}

int main() {
    std::cout << "ready " << BOOST_VERSION / 100000 << '.' << BOOST_VERSION / 100 % 1000
              << std::endl;
    for (std::string line; std::getline(std::cin, line);) {
        std::istringstream words(line);
        std::string which;
        int warm_up = 0, batches = 0, size = 0;
        if (!(words >> which >> warm_up >> batches >> size) || !is_case(which)) {
            std::cerr << "fibers: `" << line << "` is no order\n";
            return 1;
        }
        for (const std::int64_t ns : time(which, warm_up, batches, size)) {
            std::cout << ns << ' ';
        }
        std::cout << std::endl;
    }
}
