// `plugin-cpp DIRECTORY`: a plug-in in C++ that writes texts in capitals, with the host's mark behind
// them. It is exported in DIRECTORY until its standard input ends.
#include <unistd.h>

#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <sstream>
#include <stdexcept>

#include "plug.hpp"

namespace plug = nearcall::idl::plug;

class Shout : public plug::FilterServer {
  public:
    explicit Shout(const nearcall::domain &domain) : domain_(domain) {}

    // Comes before any text, and is over then: nobody has to lock what it sets.
    void begin(nearcall::descriptor host, nearcall::descriptor log) override {
        if (host_) {
            throw std::logic_error("it has begun already");
        }
        host_.emplace(domain_, std::move(host));
        log_ = std::move(log);
        mark_ = host_->setting("mark");
        dprintf(log_.get(), "plugin-cpp: begins\n");
    }

    std::string apply(const std::string &text) override {
        if (text == "hang") {
            dprintf(log_.get(), "plugin-cpp: hangs\n");
            for (;;) {
                pause();
            }
        }
        if (text == "crash") {
            dprintf(log_.get(), "plugin-cpp: crashes\n");
            std::abort();
        }
        if (text.empty()) {
            throw std::invalid_argument("there is nothing to shout"); // its host is told: panicked
        }
        std::string shouted = text;
        for (char &letter : shouted) {
            letter = static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
        }
        host_->progress(1, 1);
        return shouted + mark_;
    }

  private:
    const nearcall::domain &domain_;
    std::optional<plug::Host> host_;
    nearcall::descriptor log_;
    std::string mark_;
};

int main(int argc, char **argv) {
    if (argc != 2) {
        std::cerr << "usage: plugin-cpp DIRECTORY\n";
        return 2;
    }
    try {
        nearcall::domain domain;
        Shout shout(domain);
        nearcall::export_options options;
        options.directory = argv[1];
        plug::FilterClerk clerk(domain, "filter", shout, options);
        char byte;
        while (read(STDIN_FILENO, &byte, 1) > 0) {
        }
        _exit(0); // without a word to procedures that hang
    } catch (const nearcall::call_error &error) {
        std::cerr << "plugin-cpp: " << error.what() << "\n";
        return 1;
    }
}
