// The calls of the benchmark program over omniORB and a Unix socket: a client and a server, each a
// process of its own, as those of ../src are, for who counts instructions (../src/walked.rs).
//
//   omniorb-uds NAME HERE THERE            the client, which starts
//   omniorb-uds --server THERE ADDRESS     the server; it ends with its input
//
//   server's standard output: ready MARK REFERENCE
#include <fcntl.h>
#include <sched.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <stdexcept>
#include <string>

#include <omniORB4/CORBA.h>

#include "calls.hh"

extern char **environ;

// What both sides visit once a call.
__attribute__((noinline)) static void mark() { asm volatile("" ::: "memory"); }

static std::uintptr_t mark_address() { return reinterpret_cast<std::uintptr_t>(&mark); }

static void pin(const std::string &processor) {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(std::stoul(processor), &one);
    if (sched_setaffinity(0, sizeof one, &one) != 0) {
        throw std::runtime_error("it may not run on processor " + processor);
    }
}

class Procedures : public POA_Calls {
public:
    void null() override { mark(); }

    void pfs_write(CORBA::Long handle, CORBA::Long &pos, CORBA::Long len,
                   const Longs &numbers) override {
        mark();
        asm volatile("" ::"r"(handle), "r"(len), "r"(numbers.get_buffer()) : "memory");
        pos += static_cast<CORBA::Long>(numbers.length());
    }
};

static void serve(const std::string &processor, const std::string &address) {
    pin(processor);
    const std::string end_point = "giop:unix:" + address;
    // Nobody looks whether a call takes so long that another thread should watch its connection: by
    // single steps it does, and what another thread does then is none of a call's.
    const char *options[][2] = {{"endPoint", end_point.c_str()},
                                {"connectionWatchPeriod", "1000000000"},
                                {nullptr, nullptr}};
    int count = 0;
    CORBA::ORB_var orb = CORBA::ORB_init(count, nullptr, "omniORB4", options);
    CORBA::Object_var object = orb->resolve_initial_references("RootPOA");
    PortableServer::POA_var poa = PortableServer::POA::_narrow(object);
    PortableServer::Servant_var<Procedures> procedures = new Procedures;
    PortableServer::ObjectId_var id = poa->activate_object(procedures);
    PortableServer::POAManager_var manager = poa->the_POAManager();
    manager->activate();
    CORBA::Object_var calls = poa->id_to_reference(id);
    CORBA::String_var reference = orb->object_to_string(calls);
    std::cout << "ready " << mark_address() << ' ' << reference << std::endl;
    char octet;
    while (read(STDIN_FILENO, &octet, 1) > 0) {
    }
    orb->destroy();
}

// The server's process. Ends with this.
class Server {
public:
    Server(const char *program, const char *processor, const std::string &address) {
        int input[2], output[2];
        if (pipe2(input, O_CLOEXEC) != 0 || pipe2(output, O_CLOEXEC) != 0) {
            throw std::runtime_error("no pipe");
        }
        posix_spawn_file_actions_t actions;
        posix_spawn_file_actions_init(&actions);
        posix_spawn_file_actions_adddup2(&actions, input[0], STDIN_FILENO);
        posix_spawn_file_actions_adddup2(&actions, output[1], STDOUT_FILENO);
        const char *words[] = {program, "--server", processor, address.c_str(), nullptr};
        const int error = posix_spawn(&process, program, &actions, nullptr,
                                      const_cast<char **>(words), environ);
        posix_spawn_file_actions_destroy(&actions);
        if (error != 0) {
            throw std::runtime_error("the server did not start");
        }
        close(input[0]);
        close(output[1]);
        end = input[1];
        std::string line;
        for (char octet; read(output[0], &octet, 1) == 1 && octet != '\n';) {
            line += octet;
        }
        const auto space = line.find(' ', sizeof "ready");
        if (line.rfind("ready ", 0) != 0 || space == std::string::npos) {
            throw std::runtime_error("the server of omniorb-uds did not start");
        }
        mark = line.substr(sizeof "ready", space - sizeof "ready");
        reference = line.substr(space + 1);
    }

    ~Server() {
        close(end);
        waitpid(process, nullptr, 0);
    }

    pid_t process;
    std::string mark, reference;

private:
    int end;
};

static void call(Calls_ptr calls, const std::string &name, unsigned times) {
    Longs numbers(4);
    numbers.length(4);
    for (CORBA::ULong index = 0; index < 4; index++) {
        numbers[index] = static_cast<CORBA::Long>(index + 1);
    }
    for (unsigned time = 0; time < times; time++) {
        mark();
        if (name == "null") {
            calls->null();
            continue;
        }
        if (name != "pfs_write") {
            throw std::runtime_error("there is no case " + name);
        }
        CORBA::Long pos = 100;
        calls->pfs_write(3, pos, 4, numbers);
        if (pos != 104) {
            throw std::runtime_error("a call came back wrong");
        }
    }
}

// A directory for the socket. Goes with this.
struct Directory {
    Directory() {
        if (mkdtemp(path) == nullptr) {
            throw std::runtime_error("no directory");
        }
    }

    ~Directory() {
        unlink(address().c_str());
        rmdir(path);
    }

    std::string address() const { return std::string(path) + "/calls"; }

    char path[32] = "/tmp/nearcall-omniorb-XXXXXX";
};

static void answer(const char *program, const char *here, const char *there) {
    pin(here);
    const Directory directory;
    const Server server(program, there, directory.address());
    const char *options[][2] = {{"clientTransportRule", "* unix"}, {nullptr, nullptr}};
    int count = 0;
    CORBA::ORB_var orb = CORBA::ORB_init(count, nullptr, "omniORB4", options);
    CORBA::Object_var object = orb->string_to_object(server.reference.c_str());
    Calls_var calls = Calls::_narrow(object);
    call(calls, "pfs_write", 1);
    std::cout << "ready " << omniORB::versionString() << std::endl;
    std::string word, name;
    for (unsigned times; std::cin >> word >> name >> times;) {
        call(calls, name, times);
        std::cout << server.process << ' ' << server.mark << ' ' << mark_address() << std::endl;
    }
    orb->destroy();
}

int main(int count, char **words) {
    try {
        if (count == 4 && std::string(words[1]) == "--server") {
            serve(words[2], words[3]);
        } else if (count == 4) {
            answer(words[0], words[2], words[3]);
        } else {
            throw std::runtime_error("from which processor to which?");
        }
    } catch (const CORBA::Exception &error) {
        std::cerr << "omniorb-uds: " << error._name() << std::endl;
        return 1;
    } catch (const std::exception &error) {
        std::cerr << "omniorb-uds: " << error.what() << std::endl;
        return 1;
    }
    return 0;
}
