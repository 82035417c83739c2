// One plug-in, as its host has it: a process that is started, called within a time, and killed and
// started again by what became of a call.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>

#include "plug.hpp"

class PlugIn {
  public:
    // What each life of a plug-in is told first.
    struct Surroundings {
        const nearcall::domain &domain;
        // Whom it may call back: the host, as the host itself is bound to it.
        const nearcall::idl::plug::Host &host;
        // Where it writes what happens.
        int log;
        // Longest wait for a text.
        std::chrono::milliseconds deadline;
    };

    // Starts `program`, which exports its interface in `directory` and has that for itself.
    PlugIn(const Surroundings &surroundings, std::string program, std::string directory);
    PlugIn(const PlugIn &) = delete;
    PlugIn &operator=(const PlugIn &) = delete;
    ~PlugIn() { kill(); }

    // What becomes of a text; none: why not is told, and what was done about that.
    std::optional<std::string> apply(const std::string &text);
    // What it is called.
    std::string name() const { return program_.substr(program_.rfind('/') + 1); }

  private:
    void begin_life();
    void begin_again(const std::string &why);
    void spawn();
    nearcall::idl::plug::Filter bind();
    int kill();

    const Surroundings &surroundings_;
    std::string program_;
    std::string directory_;
    int starts_ = 0;
    pid_t pid_ = -1;
    // The host's end of its standard input: it ends when this does, however that came about.
    int input_ = -1;
    // Of its first life on; bound to the last one.
    std::optional<nearcall::idl::plug::Filter> filter_;
    bool is_off_ = false;
};
