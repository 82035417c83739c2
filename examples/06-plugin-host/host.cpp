// `host MILLISECONDS LOG PROGRAM...`: starts each of these plug-ins, and gives each line of standard
// input to all of them. One that crashes, or hangs for so long, is started again; what plug-ins write
// goes to the file LOG.
#include <fcntl.h>
#include <stdlib.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <memory>
#include <system_error>
#include <vector>

#include "plug_in.hpp"

namespace plug = nearcall::idl::plug;

// What plug-ins call back. These run on threads of the domain's, while the main one waits.
class HostServer : public plug::HostServer {
  public:
    std::string setting(const std::string &key) override {
        if (key != "mark") {
            throw plug::NoSetting(key);
        }
        return "!";
    }

    void progress(std::uint32_t done, std::uint32_t total) override {
        std::cout << "  " << done << " of " << total << "\n";
    }
};

// A directory for this host's names, which only this user may open.
class Names {
  public:
    Names() : path_(std::filesystem::temp_directory_path() / "plugin-host-XXXXXX") {
        if (mkdtemp(path_.data()) == nullptr) {
            throw std::system_error(errno, std::generic_category(), path_);
        }
    }
    Names(const Names &) = delete;
    ~Names() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    const std::string &path() const { return path_; }

  private:
    std::string path_;
};

static void run(std::chrono::milliseconds deadline, const char *log_path,
                const std::vector<std::string> &programs) {
    const nearcall::descriptor log(open(log_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
    if (!log) {
        throw std::system_error(errno, std::generic_category(), log_path);
    }
    const Names names;
    nearcall::domain domain;
    HostServer server;
    nearcall::export_options exported;
    exported.directory = names.path();
    plug::HostClerk clerk(domain, "host", server, exported);
    nearcall::orderly_end end(domain);

    // Who introduces others to a server is bound to it: the host imports its own interface.
    nearcall::import_options imported;
    imported.directory = names.path();
    const plug::Host host(domain, "host", imported);

    const PlugIn::Surroundings surroundings{domain, host, log.get(), deadline};
    std::vector<std::unique_ptr<PlugIn>> plug_ins;
    for (const std::string &program : programs) {
        const std::string directory = names.path() + "/" + std::to_string(plug_ins.size());
        plug_ins.push_back(std::make_unique<PlugIn>(surroundings, program, directory));
    }
    for (std::string line; std::getline(std::cin, line);) {
        for (const auto &plug_in : plug_ins) {
            if (const auto text = plug_in->apply(line)) {
                std::cout << plug_in->name() << ": " << *text << "\n";
            }
        }
    }
}

int main(int argc, char **argv) {
    const long within = argc > 3 ? std::atol(argv[1]) : 0;
    if (within < 1) {
        std::cerr << "usage: host MILLISECONDS LOG PROGRAM...\n";
        return 2;
    }
    try {
        run(std::chrono::milliseconds(within), argv[2], {argv + 3, argv + argc});
    } catch (const std::exception &error) {
        std::cerr << "host: " << error.what() << "\n";
        return 1;
    }
}
