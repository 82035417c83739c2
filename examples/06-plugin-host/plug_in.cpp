#include "plug_in.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <iostream>
#include <stdexcept>
#include <system_error>

namespace plug = nearcall::idl::plug;
using namespace std::chrono_literals;

// Longest wait until a plug-in that was started can be bound to.
static constexpr auto start_max = 10s;

// Starts of one plug-in, the first among them.
static constexpr int starts_max = 3;

// How a process has ended.
static std::string how(int status) {
    return WIFSIGNALED(status) ? strsignal(WTERMSIG(status))
                               : "exit status " + std::to_string(WEXITSTATUS(status));
}

PlugIn::PlugIn(const Surroundings &surroundings, std::string program, std::string directory)
    : surroundings_(surroundings), program_(std::move(program)), directory_(std::move(directory)) {
    try {
        begin_life();
    } catch (...) {
        kill();
        throw;
    }
}

std::optional<std::string> PlugIn::apply(const std::string &text) {
    if (is_off_) {
        std::cout << name() << " is switched off\n";
        return std::nullopt;
    }
    try {
        return filter_->apply(text);
    } catch (const nearcall::call_error &error) {
        if (error.outcome == NEARCALL_CALL_ABORTED) { // it hangs, as far as anybody can know
            begin_again("did not answer within " +
                        std::to_string(surroundings_.deadline.count()) + " ms");
        } else if (error.outcome == NEARCALL_CALL_FAILED) {
            begin_again("ended in the middle of a call");
        } else if (binding(*filter_).is_revoked()) { // between two calls, or it broke the protocol
            begin_again(error.what());
        } else { // it lives on, and the next text may do
            std::cout << name() << " failed: " << error.what() << "\n";
        }
        return std::nullopt;
    }
}

void PlugIn::begin_again(const std::string &why) {
    const int status = kill();
    std::cout << name() << " " << why << " (" << how(status) << "): ";
    try {
        if (starts_ == starts_max) {
            throw std::runtime_error("it was started " + std::to_string(starts_) + " times");
        }
        begin_life();
        std::cout << "started again\n";
    } catch (const std::exception &error) { // the host goes on without it
        is_off_ = true;
        kill();
        std::cout << "switched off, " << error.what() << "\n";
    }
}

void PlugIn::begin_life() {
    starts_++;
    spawn();
    filter_ = bind();
    // A new introduction for each life: it is good for one import.
    const nearcall::descriptor introduction = introduce(surroundings_.host);
    filter_->begin(introduction.get(), surroundings_.log);
}

void PlugIn::spawn() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) {
        throw std::system_error(errno, std::generic_category(), "pipe2");
    }
    input_ = ends[1];
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[0], STDIN_FILENO);
    char *arguments[] = {program_.data(), directory_.data(), nullptr};
    const int failed = posix_spawn(&pid_, program_.c_str(), &actions, nullptr, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[0]);
    if (failed != 0) {
        pid_ = -1;
        throw std::system_error(failed, std::generic_category(), program_);
    }
}

// Binds to a plug-in that was just started, once it exports its interface, or has ended. Each call
// over what this returns ends after the deadline, also if the plug-in never answers.
plug::Filter PlugIn::bind() {
    const nearcall::descriptor process(static_cast<int>(syscall(SYS_pidfd_open, pid_, 0)));
    if (!process) {
        throw std::system_error(errno, std::generic_category(), "pidfd_open");
    }
    nearcall::import_options options;
    options.directory = directory_;
    options.ready_timeout = start_max;
    options.ready_pidfd = process.get();
    try {
        const plug::Filter filter(surroundings_.domain, "filter", options);
        return with_deadline(filter, surroundings_.deadline);
    } catch (const nearcall::call_error &error) {
        if (error.reason() == nearcall::reason::process_ended) {
            throw std::runtime_error(name() + " ended before it could be called: " + how(kill()));
        }
        throw;
    }
}

// Ends it; its status, as waitpid has it.
int PlugIn::kill() {
    int status = 0;
    if (pid_ > 0) {
        ::kill(pid_, SIGKILL); // it may have ended by itself, and is waited for all the same
        waitpid(pid_, &status, 0);
        pid_ = -1;
    }
    if (input_ >= 0) {
        close(input_);
        input_ = -1;
    }
    return status;
}
