/*
 * Nearcall for C++17: what generated wrappers of C stubs are made of. Values are those of the
 * standard library; everything that holds something gives it back by itself.
 */
#ifndef NEARCALL_HPP
#define NEARCALL_HPP

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <exception>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#if defined(__cpp_impl_coroutine)
#include <coroutine>
#endif

#include "nearcall.h"

namespace nearcall {

/* Which reason of its outcome it was: those of nearcall.h, which says what they mean. */
enum class reason : std::uint32_t {
    none = NEARCALL_REASON_NONE,
    name = NEARCALL_REASON_NAME,
    no_such_name = NEARCALL_REASON_NO_SUCH_NAME,
    not_admitted = NEARCALL_REASON_NOT_ADMITTED,
    other_interface = NEARCALL_REASON_OTHER_INTERFACE,
    hash = NEARCALL_REASON_HASH,
    overloaded = NEARCALL_REASON_OVERLOADED,
    timed_out = NEARCALL_REASON_TIMED_OUT,
    not_ready = NEARCALL_REASON_NOT_READY,
    no_introduction = NEARCALL_REASON_NO_INTRODUCTION,
    introduction_over = NEARCALL_REASON_INTRODUCTION_OVER,
    introduced = NEARCALL_REASON_INTRODUCED,
    revoked = NEARCALL_REASON_REVOKED,
    peer = NEARCALL_REASON_PEER,
    system = NEARCALL_REASON_SYSTEM,
    server_ended = NEARCALL_REASON_SERVER_ENDED,
    refused = NEARCALL_REASON_REFUSED,
    arguments_refused = NEARCALL_REASON_ARGUMENTS_REFUSED,
    not_permitted = NEARCALL_REASON_NOT_PERMITTED,
    not_provided = NEARCALL_REASON_NOT_PROVIDED,
    deadline_passed = NEARCALL_REASON_DEADLINE_PASSED,
    descriptors_not_sent = NEARCALL_REASON_DESCRIPTORS_NOT_SENT,
    feed_over = NEARCALL_REASON_FEED_OVER,
    already_exported = NEARCALL_REASON_ALREADY_EXPORTED,
    policy = NEARCALL_REASON_POLICY,
    over_bound = NEARCALL_REASON_OVER_BOUND,
    out_of_range = NEARCALL_REASON_OUT_OF_RANGE,
    text = NEARCALL_REASON_TEXT,
    outstanding = NEARCALL_REASON_OUTSTANDING,
    no_memory = NEARCALL_REASON_NO_MEMORY,
    lent_elsewhere = NEARCALL_REASON_LENT_ELSEWHERE,
    forked = NEARCALL_REASON_FORKED,
    wrong_descriptor = NEARCALL_REASON_WRONG_DESCRIPTOR,
    cancelled = NEARCALL_REASON_CANCELLED,
    no_room = NEARCALL_REASON_NO_ROOM,
    too_many_feeds = NEARCALL_REASON_TOO_MANY_FEEDS,
    process_ended = NEARCALL_REASON_PROCESS_ENDED,
};

/* Why a call, an import or an export failed, and whether the procedure ran. */
class call_error : public std::runtime_error {
  public:
    explicit call_error(const nearcall_environment &env)
        : std::runtime_error(env.message),
          outcome(static_cast<nearcall_outcome>(env.outcome)),
          ran(static_cast<nearcall_ran>(env.ran)),
          may_retry_(nearcall_may_retry(&env)),
          reason_(static_cast<nearcall::reason>(env.reason)),
          incarnation_(env.incarnation) {}
    call_error(nearcall_outcome why, const std::string &words,
               nearcall::reason which = nearcall::reason::none)
        : std::runtime_error(words), outcome(why), ran(NEARCALL_RAN_NO), reason_(which) {}

    /* none: the outcome says all. */
    nearcall::reason reason() const { return reason_; }
    /* The life of the server that had the call, as of binding_state; 0: none that is known. */
    std::uint64_t incarnation() const { return incarnation_; }
    /* Nothing ran, and another try may help: later, and over what rebind(client) gives if the
     * binding is revoked. */
    bool may_retry() const { return may_retry_; }

    nearcall_outcome outcome;
    nearcall_ran ran;

  private:
    bool may_retry_ = false;
    nearcall::reason reason_ = nearcall::reason::none;
    std::uint64_t incarnation_ = 0;
};

namespace detail {

/* What an exception says: its type's name, and members behind it. */
struct words {
    std::string text;
    bool has_members = false;
};

} // namespace detail

/* What exceptions of interfaces have in common. `what()` is the type's name and the members that
 * are words, texts or enumerators, as they were when it was asked first; a copy is asked anew, so
 * that it costs nothing to make one of what was never asked, and cannot fail. */
struct exception : std::exception {
    exception() noexcept = default;
    exception(const exception &other) noexcept : std::exception(other) {}
    exception &operator=(const exception &) noexcept {
        delete nc_words_.exchange(nullptr, std::memory_order_acq_rel);
        return *this;
    }
    ~exception() override { delete nc_words_.load(std::memory_order_acquire); }

  protected:
    /* What `what()` returns: what `say` adds to the name, or the name alone if there is no memory.
     * Of threads that ask at once, which may hold the same exception, all return the same. */
    template <class S> const char *nc_said(const char *name, S say) const noexcept {
        const detail::words *said = nc_words_.load(std::memory_order_acquire);
        if (said != nullptr) {
            return said->text.c_str();
        }
        try {
            auto made = std::make_unique<detail::words>();
            made->text = name;
            say(*made);
            if (nc_words_.compare_exchange_strong(said, made.get(), std::memory_order_acq_rel)) {
                said = made.release();
            }
            return said->text.c_str();
        } catch (...) {
            return name;
        }
    }

  private:
    mutable std::atomic<const detail::words *> nc_words_{nullptr};
};

/* Knobs of a domain: those of nearcall.h, as they are where nobody turns them. */
struct domain_options : nearcall_domain_options {
    domain_options() : nearcall_domain_options() { nearcall_domain_options_default(this); }
};

/* One process's part in Nearcall. */
class domain {
  public:
    domain() : domain(domain_options()) {}
    explicit domain(const domain_options &options) {
        nearcall_environment env;
        own_.reset(nearcall_domain_new_with(&options, &env));
        if (!own_) {
            throw call_error(env);
        }
    }
    /* Calls that run are finished, calls that were not taken are refused. */
    void shut_down() { nearcall_domain_shut_down(own_.get()); }
    const nearcall_domain *c() const { return own_.get(); }

  private:
    struct release {
        void operator()(nearcall_domain *own) const { nearcall_domain_release(own); }
    };
    std::unique_ptr<nearcall_domain, release> own_;
};

/* From here on `log` gets what the runtime tells, as with nearcall_set_log; what it throws is lost.
 * It is kept until the process ends; false, and it is not, if another one was set. */
inline bool set_log(std::function<void(nearcall_level, std::string_view)> log) {
    using function = std::function<void(nearcall_level, std::string_view)>;
    auto kept = std::make_unique<function>(std::move(log));
    auto tell = [](void *context, nearcall_level level, const char *line) {
        try {
            (*static_cast<function *>(context))(level, line);
        } catch (...) {
        }
    };
    const bool is_set = *kept && nearcall_set_log(tell, kept.get());
    if (is_set) {
        static_cast<void>(kept.release());
    }
    return is_set;
}

/* Shuts a domain down when it goes. Declared after the clerks and what they serve, it goes before they
 * do, however their scope is left, so that no call of theirs runs any more when they go:
 *
 *     nearcall::domain domain;
 *     Desk desk;
 *     NotesClerk clerk(domain, "desk", desk);
 *     nearcall::orderly_end end(domain); */
class orderly_end {
  public:
    explicit orderly_end(domain &ended) : ended_(ended) {}
    orderly_end(const orderly_end &) = delete;
    orderly_end &operator=(const orderly_end &) = delete;
    ~orderly_end() { ended_.shut_down(); }

  private:
    domain &ended_;
};

/* Ends calls of other threads: those that they make in `run`, or while a `scope` of theirs lives, as
 * nearcall.h says of nearcall_cancellation.
 *
 *     nearcall::cancellation slow;
 *     std::thread other([&] { slow.cancel(); });
 *     auto rows = slow.run([&] { return ledger.count(); });  // throws call_error */
class cancellation {
  public:
    cancellation() : own_(nearcall_cancellation_new()) {}
    /* What `work` returns. What it throws leaves this, too. */
    template <typename Work> decltype(auto) run(Work &&work) const {
        const scope inside(*this);
        return std::forward<Work>(work)();
    }
    /* From any thread. Waits for nothing. */
    void cancel() const { nearcall_cancellation_cancel(own_.get()); }
    bool is_cancelled() const { return nearcall_cancellation_is_cancelled(own_.get()); }

    /* The thread that makes it is in a cancellation, which outlives it, until it goes. */
    class scope {
      public:
        explicit scope(const cancellation &entered) : entered_(entered.own_.get()) {
            nearcall_cancellation_enter(entered_);
        }
        scope(const scope &) = delete;
        scope &operator=(const scope &) = delete;
        ~scope() { nearcall_cancellation_leave(entered_); }

      private:
        const nearcall_cancellation *entered_;
    };

  private:
    struct release {
        void operator()(nearcall_cancellation *own) const { nearcall_cancellation_release(own); }
    };
    std::unique_ptr<nearcall_cancellation, release> own_;
};

/* How an interface is imported. */
struct import_options {
    /* Longest wait of an import until somebody exports the name. */
    std::chrono::nanoseconds ready_timeout{0};
    /* Longest wait of a rebind, and of a call that is made once more, until somebody exports the
     * name again. */
    std::chrono::nanoseconds rebind_timeout{0};
    /* Longest wait for the server's half of the bind; 0: 5 s. */
    std::chrono::nanoseconds timeout{0};
    /* A call that finds no A-stack has the server add some, up to 15 times as many. */
    bool grows = false;
    /* Where the name is looked up; none: the user's scope, then the system's. */
    std::string directory{};
    /* How long the calls spin, yield and sleep; none: as the domain does. */
    std::optional<nearcall_wait_policy> wait{};
    /* A pidfd of the process that is to export the name, or to have it exported: once that has
     * ended the import waits no longer, and fails by reason::process_ended. It stays the
     * caller's. */
    std::optional<int> ready_pidfd{};

    /* As long as this stays as it is. */
    nearcall_import_options c() const {
        return {static_cast<std::uint64_t>(ready_timeout.count()),
                static_cast<std::uint64_t>(rebind_timeout.count()),
                static_cast<std::uint64_t>(timeout.count()), grows,
                directory.empty() ? nullptr : directory.c_str(), wait ? &*wait : nullptr,
                ready_pidfd ? &*ready_pidfd : nullptr};
    }
};

namespace detail {

/* Of the C++ library's: where it has what the calling thread has thrown and caught. By another name
 * here, since not all libraries declare it, and those that do by types of their own. */
extern "C" void *nc_exceptions() __asm__("__cxa_get_globals");

} // namespace detail

/* How an interface is exported. */
struct export_options {
    /* A policy file, in TOML, of who may bind, that nobody else may write but root; none: the
     * domain's own user, in the system scope nobody. */
    std::string policy{};
    /* Whoever may open the socket may bind; not with a policy. */
    bool is_open_to_anyone = false;
    /* Where the name goes, made for this user alone if it is not there; none: the user's scope, for
     * root without one the system's. */
    std::string directory{};
    /* Procedures run on stacks of their own, but for @leaf ones: one that waits for a nested call
     * leaves its thread to other calls. */
    bool runs_on_estacks = false;

    /* As long as this stays as it is. */
    nearcall_export_options c() const {
        return {policy.empty() ? nullptr : policy.c_str(), is_open_to_anyone,
                directory.empty() ? nullptr : directory.c_str(), runs_on_estacks,
                detail::nc_exceptions};
    }
};

namespace detail {

inline std::uint64_t deadline_ns(std::chrono::nanoseconds deadline) {
    return deadline.count() > 0 ? static_cast<std::uint64_t>(deadline.count()) : 0;
}

inline std::size_t set_policy(const nearcall_clerk *clerk, const std::string &path) {
    nearcall_environment env;
    const std::int64_t revoked = nearcall_clerk_set_policy(clerk, path.c_str(), &env);
    if (revoked < 0) {
        throw call_error(env);
    }
    return static_cast<std::size_t>(revoked);
}

/* In the handler of what `procedure` has thrown and its interface does not declare; if it had
 * returned, that came of its results. */
inline void threw(nearcall_environment *env, const char *procedure, bool has_returned) {
    char why[sizeof env->message];
    const auto say = [&](const char *what) {
        if (has_returned) {
            std::snprintf(why, sizeof why, "%s returned what cannot be sent: %s", procedure, what);
        } else {
            std::snprintf(why, sizeof why, "threw: %s", what);
        }
    };
    try {
        throw;
    } catch (const std::exception &thrown) {
        say(thrown.what());
    } catch (...) {
        say("no std::exception");
    }
    if (has_returned) {
        nearcall_refuse_returned(env, why);
    } else {
        nearcall_panic(env, why);
    }
}

} // namespace detail

/* A descriptor that is closed when this goes; -1 is none. */
class descriptor {
  public:
    descriptor() = default;
    explicit descriptor(int fd) : fd_(fd) {}
    descriptor(descriptor &&other) noexcept : fd_(other.release()) {}
    descriptor &operator=(descriptor &&other) noexcept {
        reset(other.release());
        return *this;
    }
    descriptor(const descriptor &) = delete;
    descriptor &operator=(const descriptor &) = delete;
    ~descriptor() { reset(); }

    explicit operator bool() const { return fd_ >= 0; }
    int get() const { return fd_; }
    /* It is the caller's from here on. */
    int release() { return nearcall_handed_over(&fd_); }
    void reset(int fd = -1) { nearcall_close(std::exchange(fd_, fd)); }

  private:
    int fd_ = -1;
};

namespace detail {

/* Text of the library's, and none where C has null. */
inline std::optional<std::string> told(char *text) {
    const std::unique_ptr<char, void (*)(void *)> own(text, nearcall_free);
    return own ? std::optional<std::string>(own.get()) : std::nullopt;
}

} // namespace detail

/* Who calls, or has introduced who does: pid, uid and gid, below 0 where the system does not tell,
 * and what else is known of it. Copies share the call. */
class importer : public nearcall_importer {
  public:
    importer(const nearcall_importer &own, std::shared_ptr<nearcall_current> call)
        : nearcall_importer(own), call_(std::move(call)) {}
    /* Whether it is in this group, beside its own one. */
    bool is_in_group(std::uint32_t group) const {
        return nearcall_importer_is_in_group(this, group);
    }
    /* Whether all those have numbers here: where not, it may be in any. */
    bool are_groups_all() const { return nearcall_importer_are_groups_all(this); }
    /* Its control group, as a path; none if the system does not tell, or its binding has gone. Some
     * system calls. */
    std::optional<std::string> cgroup() const {
        return detail::told(nearcall_importer_cgroup(this));
    }
    /* Its security label, as it was when it connected; none if it has none. */
    std::optional<std::string> label() const { return detail::told(nearcall_importer_label(this)); }
    /* A pidfd, the caller's own: what identifies it, and can be read once it has ended. Throws
     * std::system_error: its binding has gone (ENOTCONN), there is no room for a descriptor, or it
     * ended so long ago that the kernel has nothing more to tell of it. */
    descriptor pidfd() const {
        const int pidfd = nearcall_importer_pidfd(this);
        if (pidfd < 0) {
            throw std::system_error(-pidfd, std::generic_category(), "the pidfd of an importer");
        }
        return descriptor(pidfd);
    }

  private:
    std::shared_ptr<nearcall_current> call_;
};

/* The call that a thread serves, as its procedure sees its client. Any thread may ask it: once the
 * procedure has returned it is cancelled. */
class current {
  public:
    explicit current(nearcall_current *own) : own_(own, nearcall_current_release) {}
    /* Its client has given it up, or has gone: nobody will see its results. */
    bool is_cancelled() const { return nearcall_current_is_cancelled(own_.get()); }
    /* Its server ends, which waits for it: its clerk has gone, or its domain is being shut down. Its
     * results still arrive, if its client is there. */
    bool is_ending() const { return nearcall_current_is_ending(own_.get()); }
    /* How long its client still waits; none: as long as it takes. */
    std::optional<std::chrono::nanoseconds> time_left() const {
        auto left_ns = nearcall_current_time_left_ns(own_.get());
        return left_ns == UINT64_MAX ? std::nullopt
                                     : std::optional(std::chrono::nanoseconds(left_ns));
    }
    nearcall::importer importer() const { return {nearcall_current_importer(own_.get()), own_}; }
    /* Who has introduced the importer. */
    std::optional<nearcall::importer> giver() const {
        nearcall_importer giver{};
        bool is_any = nearcall_current_giver(own_.get(), &giver);
        return is_any ? std::optional<nearcall::importer>({giver, own_}) : std::nullopt;
    }

  private:
    std::shared_ptr<nearcall_current> own_;
};

/* That of this thread; none outside of a procedure. */
inline std::optional<current> current_call() {
    nearcall_current *own = nearcall_current_call();
    return own != nullptr ? std::optional<current>(own) : std::nullopt;
}

/* What has become of a client's binding, of binding(client), which has to live as long. */
class binding_state {
  public:
    explicit binding_state(const nearcall_client *own) : own_(own) {}
    /* The server has ended, or one of the two sides has given the binding up. */
    bool is_revoked() const { return nearcall_is_revoked(own_); }
    /* Which life of the server it is bound to: a later export has a larger number. */
    std::uint64_t incarnation() const { return nearcall_incarnation(own_); }
    /* How many A-stacks the server holds of calls that nobody waits for: aborted, dropped or oneway
     * ones. */
    std::uint32_t captured_count() const { return nearcall_captured_count(own_); }
    /* Waits until every call over this binding is over that nobody waits for: what any thread has
     * posted oneway, given up or dropped. To be called before the program exits or the client
     * goes: what a server has not begun by then it does not run. How many are not over after that
     * time; 0: all have run, or were refused. */
    [[nodiscard]] std::uint32_t flush(std::chrono::nanoseconds timeout) const {
        return nearcall_flush(own_, detail::deadline_ns(timeout));
    }
    /* How many A-stacks there are, of all classes. */
    std::uint32_t astack_count() const { return nearcall_astack_count(own_); }

  private:
    const nearcall_client *own_;
};

/* Memory that the server of one client reads in place, of lend(client, size): fill it, and pass it
 * as an `@opaque in` argument, any number of times. What is written to it while a call has it, the
 * server sees. When this goes, the memory goes back, once no call has it. */
class lent {
  public:
    lent(void *own, std::size_t size) : own_(static_cast<std::uint8_t *>(own)), size_(size) {}

    explicit operator bool() const { return own_ != nullptr; }
    std::uint8_t *data() { return own_.get(); }
    const std::uint8_t *data() const { return own_.get(); }
    std::size_t size() const { return size_; }
    std::uint8_t *begin() { return data(); }
    std::uint8_t *end() { return data() + size_; }
    const std::uint8_t *begin() const { return data(); }
    const std::uint8_t *end() const { return data() + size_; }

  private:
    struct release {
        void operator()(std::uint8_t *own) const { nearcall_lent_release(own); }
    };
    std::unique_ptr<std::uint8_t, release> own_;
    std::size_t size_;
};

/* An `@opaque in` argument: bytes that somebody else has, as long as the call. They are copied
 * once, to the server; those that begin where lent memory does are not. */
class bytes {
  public:
    bytes() = default;
    bytes(const std::uint8_t *data, std::size_t size) : data_(data), size_(size) {}
    bytes(const std::vector<std::uint8_t> &all) : data_(all.data()), size_(all.size()) {}
    bytes(const lent &all) : data_(all.data()), size_(all.size()) {}
    /* As long as the list, which is as long as the call that it stands in. */
    bytes(std::initializer_list<std::uint8_t> all) : size_(all.size()) { data_ = all.begin(); }

    const std::uint8_t *data() const { return data_; }
    std::size_t size() const { return size_; }
    const std::uint8_t *begin() const { return data_; }
    const std::uint8_t *end() const { return data_ + size_; }
    /* The first of them; all if there are not so many. */
    bytes first(std::size_t count) const { return {data_, count < size_ ? count : size_}; }

  private:
    const std::uint8_t *data_ = nullptr;
    std::size_t size_ = 0;
};

/* Octets that a client lent for the time of a call. */
class opaque {
  public:
    explicit opaque(const nearcall_opaque *own) : own_(own) {}
    std::size_t size() const { return nearcall_opaque_bytes(own_); }
    std::vector<std::uint8_t> copy() const {
        std::vector<std::uint8_t> all(size());
        nearcall_opaque_copy(own_, 0, all.data(), all.size());
        return all;
    }
    /* Copies octets from `at` on. False, and nothing is copied, if there are not as many. */
    bool copy_to(void *target, std::size_t at, std::size_t count) const {
        return nearcall_opaque_copy(own_, at, target, count);
    }
    /* Writes them to a file, past this process. False if the file does not take them. */
    bool write_at(int file, std::uint64_t offset) const {
        return nearcall_opaque_write_at(own_, file, offset);
    }

  private:
    const nearcall_opaque *own_;
};

/* Room for results that are written in place. What goes over the interface's bound is not there. */
class room {
  public:
    explicit room(nearcall_served *own) : own_(own) {}
    std::size_t size() const { return nearcall_room_bytes(own_); }
    bool put(const void *bytes, std::size_t count) { return nearcall_room_put(own_, bytes, count); }
    /* Puts bytes of a file, past this process: how many there were; -1 after an error. */
    std::int64_t read_at(int file, std::uint64_t offset, std::size_t count) {
        return nearcall_room_read_at(own_, file, offset, count);
    }

  private:
    nearcall_served *own_;
};

namespace detail {

/* A descriptor that may be absent, as C has it: -1 then. */
inline std::optional<descriptor> present(int fd) {
    descriptor own(fd);
    return own ? std::optional<descriptor>(std::move(own)) : std::nullopt;
}

inline int released(std::optional<descriptor> own) { return own ? own->release() : -1; }

} // namespace detail

namespace detail {

/* The items of a feed or an inlet, as a range. */
template <class S> class item_iterator {
  public:
    using iterator_category = std::input_iterator_tag;
    using value_type = typename S::item;
    using difference_type = std::ptrdiff_t;
    using pointer = value_type *;
    using reference = value_type &;

    item_iterator() = default;
    explicit item_iterator(S *from) : from_(from) { ++*this; }
    reference operator*() { return item_; }
    pointer operator->() { return &item_; }
    item_iterator &operator++() {
        if (!from_->next(item_)) {
            from_ = nullptr;
        }
        return *this;
    }
    void operator++(int) { ++*this; }
    bool operator==(const item_iterator &other) const { return from_ == other.from_; }
    bool operator!=(const item_iterator &other) const { return from_ != other.from_; }

  private:
    S *from_ = nullptr;
    value_type item_{};
};

} // namespace detail

/* Items that a server sends, once, from one thread at a time. When this goes before they end, the
 * feed is given up. */
template <class F> class feed {
  public:
    using item = typename F::item;

    explicit feed(typename F::c *own) : own_(own) {}

    /* The next item. False if there are none any more. Throws what the procedure raised, and
     * call_error; after that there are none. */
    bool next(item &target) { return F::next(own_.get(), target); }

    using iterator = detail::item_iterator<feed>;

    iterator begin() { return iterator(this); }
    iterator end() { return iterator(); }

  private:
    std::unique_ptr<typename F::c, typename F::release> own_;
};

/* Items that a server is sent, from one thread at a time. When this goes before its end, the feed
 * is given up. */
template <class F> class sink {
  public:
    using item = typename F::item;

    explicit sink(typename F::c *own) : own_(own) {}

    /* Sends an item, with others. Throws call_error if the interface forbids it (NEARCALL_USAGE)
     * or there is no memory for it: it is not sent, and the feed goes on. Throws as well if one
     * before could not be sent, and what the server raised about it; after that is_over(). */
    void put(const item &source) { F::put(own_.get(), source); }
    /* Whether it has ended, or a batch of it could not be sent. */
    bool is_over() const { return nearcall_feed_is_over(own_.get()); }
    /* Sends what there is. */
    void flush() { F::flush(own_.get()); }
    /* There are no more: what the server makes of them. */
    typename F::output end() { return F::end(own_.get()); }

  private:
    std::unique_ptr<typename F::c, typename F::release> own_;
};

/* What a procedure returns that is a feed. It is asked by one thread at a time, and goes when the
 * feed is over, whatever ended it, on any thread. */
template <class T> class items {
  public:
    virtual ~items() = default;
    /* The next item. False if there are none any more. Of one that the interface forbids the client
     * is told NEARCALL_RESULTS_REFUSED, behind those before it; then the feed is over. */
    virtual bool next(T &item) = 0;
};

/* What a procedure returns that takes a feed: as items, the other way. */
template <class T, class R> class taker {
  public:
    virtual ~taker() = default;
    virtual void take(const T &item) = 0;
    /* There are no more. */
    virtual R end() = 0;
};

/* The client of an exchange has given this side up, or has ended. */
struct given_up : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/* Items that the client of an exchange sends, for one thread at a time. They come once the
 * procedure that was given this has returned. When this goes, no more are taken. */
template <class T> class inlet {
  public:
    using item = T;

    inlet(void *own, bool (*take)(void *, T &), void (*release)(void *))
        : own_(own, release), next_(take) {}

    /* The next item; waits for it. False if there are none any more. Throws given_up. */
    bool next(T &target) { return next_(own_.get(), target); }

    using iterator = detail::item_iterator<inlet>;

    iterator begin() { return iterator(this); }
    iterator end() { return iterator(); }

  private:
    std::unique_ptr<void, void (*)(void *)> own_;
    bool (*next_)(void *, T &);
};

/* Items for the client of an exchange, from one thread at a time. They go once the procedure that
 * was given this has returned. When this goes before end or raise, by an exception or a return,
 * they are not all: the client's call fails behind them. */
template <class T> class outlet {
  public:
    outlet(void *own, void (*give)(void *, const T &), void (*release)(void *, bool is_whole),
           void (*fail)(void *, std::exception_ptr))
        : own_(own, {release}), put_(give), raise_(fail) {}

    /* Gives the client an item; waits while a batch is there that it has not asked for. Throws
     * call_error (NEARCALL_USAGE) if the interface forbids it: it is not sent, and the outlet goes
     * on. Throws given_up, also behind end and raise. */
    void put(const T &source) {
        if (!own_) {
            throw given_up("the outlet is over");
        }
        put_(own_.get(), source);
    }
    /* There are no more items: the client has had all of them. */
    void end() {
        if (own_) {
            own_.get_deleter().release(own_.release(), true);
        }
    }
    /* Raises an exception of the interface behind the items, of which there are no more. The second
     * one is not told. */
    template <class X> void raise(const X &exception) {
        if (own_) {
            raise_(own_.release(), std::make_exception_ptr(exception));
        }
    }

  private:
    struct unended {
        void (*release)(void *, bool is_whole);
        void operator()(void *own) const { release(own, false); }
    };
    std::unique_ptr<void, unended> own_;
    void (*put_)(void *, const T &);
    void (*raise_)(void *, std::exception_ptr);
};

} // namespace nearcall

#include "nearcall_calls.hpp"
#include "nearcall_values.hpp"

#endif
