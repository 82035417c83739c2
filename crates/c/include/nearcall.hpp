/*
 * Nearcall for C++17: what generated wrappers of C stubs are made of. Values are those of the
 * standard library; everything that holds something gives it back by itself.
 */
#ifndef NEARCALL_HPP
#define NEARCALL_HPP

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstddef>
#include <cstring>
#include <exception>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "nearcall.h"

namespace nearcall {

/* Why a call, an import or an export failed, and whether the procedure ran. */
class call_error : public std::runtime_error {
  public:
    explicit call_error(const nearcall_environment &env)
        : std::runtime_error(env.message),
          outcome(static_cast<nearcall_outcome>(env.outcome)),
          ran(static_cast<nearcall_ran>(env.ran)) {}
    call_error(nearcall_outcome outcome, const std::string &reason)
        : std::runtime_error(reason), outcome(outcome), ran(NEARCALL_RAN_NO) {}

    const nearcall_outcome outcome;
    const nearcall_ran ran;
};

/* What exceptions of interfaces have in common. */
struct exception : std::exception {};

/* One process's part in Nearcall. */
class domain {
  public:
    domain() {
        nearcall_environment env;
        own_.reset(nearcall_domain_new(&env));
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

/* How an interface is imported. */
struct import_options {
    /* Longest wait of a rebind, and of a call that is made once more, until somebody exports the
     * name again. */
    std::chrono::nanoseconds rebind_timeout{0};

    nearcall_import_options c() const {
        return {static_cast<std::uint64_t>(rebind_timeout.count())};
    }
};

/* The call that a thread serves, as its procedure sees its client. Any thread may ask it: once the
 * procedure has returned it is cancelled. */
class current {
  public:
    explicit current(nearcall_current *own) : own_(own, nearcall_current_release) {}
    /* Its client has given it up, or has gone: nobody will see its results. */
    bool is_cancelled() const { return nearcall_current_is_cancelled(own_.get()); }
    /* How long its client still waits; none: as long as it takes. */
    std::optional<std::chrono::nanoseconds> time_left() const {
        auto left_ns = nearcall_current_time_left_ns(own_.get());
        return left_ns == UINT64_MAX ? std::nullopt
                                     : std::optional(std::chrono::nanoseconds(left_ns));
    }
    nearcall_importer importer() const { return nearcall_current_importer(own_.get()); }
    /* Who has introduced the importer. */
    std::optional<nearcall_importer> giver() const {
        nearcall_importer giver{};
        bool is_any = nearcall_current_giver(own_.get(), &giver);
        return is_any ? std::optional(giver) : std::nullopt;
    }

  private:
    std::shared_ptr<nearcall_current> own_;
};

/* That of this thread; none outside of a procedure. */
inline std::optional<current> current_call() {
    nearcall_current *own = nearcall_current_call();
    return own != nullptr ? std::optional<current>(own) : std::nullopt;
}

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
    bool write_at(int file, std::uint64_t offset) const {
        return nearcall_opaque_write_at(own_, file, offset);
    }

  private:
    const nearcall_opaque *own_;
};

/* Room for results that are written in place. */
class room {
  public:
    explicit room(nearcall_served *own) : own_(own) {}
    bool put(const void *bytes, std::size_t count) { return nearcall_room_put(own_, bytes, count); }

  private:
    nearcall_served *own_;
};

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

    /* Sends an item, with others. Throws what the server raised about one before; after that the
     * feed is over. */
    void put(const item &source) { F::put(own_.get(), source); }
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
    /* The next item. False if there are none any more. */
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

    inlet(void *own, bool (*next)(void *, T &), void (*release)(void *))
        : own_(own, release), next_(next) {}

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
 * was given this has returned. When this goes, there are no more. */
template <class T> class outlet {
  public:
    outlet(void *own, void (*put)(void *, const T &), void (*release)(void *),
           void (*raise)(void *, std::exception_ptr))
        : own_(own, release), put_(put), raise_(raise) {}
    outlet(outlet &&) = default;
    /* While an exception unwinds its scope, the items that there are are not all: the client's call
     * fails behind them. */
    ~outlet() {
        if (own_ && std::uncaught_exceptions() > unwinding_) {
            raise(std::runtime_error("an exception has left the scope of an outlet"));
        }
    }

    /* Gives the client an item; waits while a batch is there that it has not asked for. Throws
     * given_up, also behind raise. */
    void put(const T &source) {
        if (!own_) {
            throw given_up("the outlet is over");
        }
        put_(own_.get(), source);
    }
    /* Raises an exception of the interface behind the items, of which there are no more. The second
     * one is not told. */
    template <class X> void raise(const X &exception) {
        if (own_) {
            raise_(own_.release(), std::make_exception_ptr(exception));
        }
    }

  private:
    /* Those that were unwinding when it was made. */
    int unwinding_ = std::uncaught_exceptions();
    std::unique_ptr<void, void (*)(void *)> own_;
    void (*put_)(void *, const T &);
    void (*raise_)(void *, std::exception_ptr);
};

/* Conversions: `give` makes a value of C with memory of its own, `take` reads one. */
namespace detail {

template <class T>
constexpr bool is_word = std::is_arithmetic<T>::value || std::is_enum<T>::value;

inline void *allocated(std::size_t bytes) {
    void *memory = nearcall_allocate_zeroed(bytes);
    if (memory == nullptr) {
        throw std::bad_alloc();
    }
    return memory;
}

inline void check_text(const std::string &text) {
    if (text.find('\0') != std::string::npos) {
        throw call_error(NEARCALL_USAGE, "text has a NUL in it");
    }
}

inline std::uint32_t count_of(std::size_t count) {
    if (count > std::numeric_limits<std::uint32_t>::max()) {
        throw call_error(NEARCALL_USAGE, "a sequence has more than 4294967295 elements");
    }
    return static_cast<std::uint32_t>(count);
}

template <class T, class C, std::enable_if_t<is_word<T>, int> = 0>
void give(const T &value, C &target) {
    target = static_cast<C>(value);
}

inline void give(const nearcall_long_double &value, nearcall_long_double &target) {
    target = value;
}

inline void give(const std::string &value, char *&target) {
    check_text(value);
    target = nearcall_copy_text(value.c_str());
    if (target == nullptr) {
        throw std::bad_alloc();
    }
}

template <class T, std::size_t N, class C> void give(const std::array<T, N> &value, C &target);
template <class T, class C> void give(const std::vector<T> &value, C &target);
template <class K, class V, class C> void give(const std::map<K, V> &value, C &target);
template <class T, class C> void give(const std::optional<T> &value, C *&target);

template <class T, std::size_t N, class C>
void give_items(const std::array<T, N> &value, C (&target)[N]) {
    for (std::size_t i = 0; i < N; i++) {
        if constexpr (std::is_array<C>::value) {
            give_items(value[i], target[i]);
        } else {
            give(value[i], target[i]);
        }
    }
}

template <class T, std::size_t N, class C> void give(const std::array<T, N> &value, C &target) {
    give_items(value, target._at);
}

template <class T, class C> void give(const std::vector<T> &value, C &target) {
    using item = std::remove_pointer_t<decltype(target._buffer)>;
    const std::uint32_t count = count_of(value.size());
    target._buffer = static_cast<item *>(allocated(count * sizeof(item)));
    for (const auto &one : value) {
        target._length++;
        give(static_cast<T>(one), target._buffer[target._length - 1]);
    }
}

template <class K, class V, class C> void give(const std::map<K, V> &value, C &target) {
    using item = std::remove_pointer_t<decltype(target._buffer)>;
    const std::uint32_t count = count_of(value.size());
    target._buffer = static_cast<item *>(allocated(count * sizeof(item)));
    for (const auto &one : value) {
        item &pair = target._buffer[target._length++];
        give(one.first, pair.key);
        give(one.second, pair.value);
    }
}

template <class T, class C> void give(const std::optional<T> &value, C *&target) {
    if (value) {
        target = static_cast<C *>(allocated(sizeof(C)));
        give(*value, *target);
    }
}

template <class T, class C, std::enable_if_t<is_word<T>, int> = 0>
void take(const C &value, T &target) {
    target = static_cast<T>(value);
}

inline void take(const nearcall_long_double &value, nearcall_long_double &target) {
    target = value;
}

inline void take(const char *value, std::string &target) { target = value == nullptr ? "" : value; }

template <class C, class T, std::size_t N> void take(const C &value, std::array<T, N> &target);
template <class C, class T> void take(const C &value, std::vector<T> &target);
template <class C, class K, class V> void take(const C &value, std::map<K, V> &target);
template <class C, class T> void take(const C *value, std::optional<T> &target);

template <class C, class T, std::size_t N>
void take_items(const C (&value)[N], std::array<T, N> &target) {
    for (std::size_t i = 0; i < N; i++) {
        if constexpr (std::is_array<C>::value) {
            take_items(value[i], target[i]);
        } else {
            take(value[i], target[i]);
        }
    }
}

template <class C, class T, std::size_t N> void take(const C &value, std::array<T, N> &target) {
    take_items(value._at, target);
}

template <class C, class T> void take(const C &value, std::vector<T> &target) {
    using item = std::remove_pointer_t<decltype(value._buffer)>;
    if constexpr (std::is_same<item, T>::value && is_word<T>) {
        target.assign(value._buffer, value._buffer + value._length);
    } else if constexpr (is_word<T>) {
        target.clear();
        target.reserve(value._length);
        for (std::uint32_t i = 0; i < value._length; i++) {
            target.push_back(static_cast<T>(value._buffer[i]));
        }
    } else {
        target.resize(value._length);
        for (std::uint32_t i = 0; i < value._length; i++) {
            take(value._buffer[i], target[i]);
        }
    }
}

template <class C, class K, class V> void take(const C &value, std::map<K, V> &target) {
    target.clear();
    for (std::uint32_t i = 0; i < value._length; i++) {
        K key{};
        take(value._buffer[i].key, key);
        take(value._buffer[i].value, target[std::move(key)]);
    }
}

template <class C, class T> void take(const C *value, std::optional<T> &target) {
    if (value == nullptr) {
        target.reset();
    } else {
        take(*value, target ? *target : target.emplace());
    }
}

/* Alternative N of a union, which it has from here on. */
template <std::size_t N, class V> auto &alternative(V &target) {
    return target.index() == N ? std::get<N>(target) : target.template emplace<N>();
}

/* A vector or a string that a result comes to: as long as the result, of which it has no more to
 * copy. */
template <class C, class T> C prealloc(T &target) {
    using item = typename T::value_type;
    static_assert(sizeof(item) == sizeof(*C::_buffer) && std::is_trivially_copyable<item>::value,
                  "elements lie in memory as they do in C");
    C all{};
    all._own = &target;
    all._grow = [](void *own, std::uint32_t count) noexcept -> void * {
        T &known = *static_cast<T *>(own);
        try {
            known.resize(count);
        } catch (...) {
            return nullptr;
        }
        return known.data();
    };
    return all;
}

/* How much memory a value holds beside itself; generated for structs and unions. */
template <class T, std::enable_if_t<is_word<T>, int> = 0> std::size_t held_bytes(const T &) {
    return 0;
}

inline std::size_t held_bytes(const nearcall_long_double &) { return 0; }
inline std::size_t held_bytes(std::monostate) { return 0; }
inline std::size_t held_bytes(const std::string &value) { return value.capacity(); }

template <class T, std::size_t N> std::size_t held_bytes(const std::array<T, N> &value);
template <class T> std::size_t held_bytes(const std::vector<T> &value);
template <class K, class V> std::size_t held_bytes(const std::map<K, V> &value);
template <class T> std::size_t held_bytes(const std::optional<T> &value);

template <class T, std::size_t N> std::size_t held_bytes(const std::array<T, N> &value) {
    std::size_t bytes = 0;
    if constexpr (!is_word<T>) {
        for (const T &one : value) {
            bytes += held_bytes(one);
        }
    }
    return bytes;
}

template <class T> std::size_t held_bytes(const std::vector<T> &value) {
    std::size_t bytes = value.capacity() * sizeof(T);
    if constexpr (!is_word<T>) {
        for (const T &one : value) {
            bytes += held_bytes(one);
        }
    }
    return bytes;
}

template <class K, class V> std::size_t held_bytes(const std::map<K, V> &value) {
    std::size_t bytes = 0;
    for (const auto &one : value) {
        bytes += sizeof one + held_bytes(one.first) + held_bytes(one.second);
    }
    return bytes;
}

template <class T> std::size_t held_bytes(const std::optional<T> &value) {
    return value ? held_bytes(*value) : 0;
}

/* What a procedure only reads: it is kept for the next call that has such an argument, whose value
 * takes the place of the old one. A call that waits has it for as long. */
template <class T> class kept {
  public:
    kept() {
        for (auto &one : all_) {
            if (one.load(std::memory_order_relaxed) != nullptr) {
                own_.reset(one.exchange(nullptr, std::memory_order_acquire));
                if (own_) {
                    return;
                }
            }
        }
        own_ = std::make_unique<T>();
    }
    kept(const kept &) = delete;
    kept &operator=(const kept &) = delete;
    ~kept() {
        if (held_bytes(*own_) > bytes_max) {
            return;
        }
        for (auto &one : all_) {
            T *none = nullptr;
            if (one.compare_exchange_strong(none, own_.get(), std::memory_order_release,
                                            std::memory_order_relaxed)) {
                own_.release();
                return;
            }
        }
    }
    T &operator*() { return *own_; }

  private:
    /* Of each type the program keeps no more values, none of which holds more. */
    static constexpr std::size_t count_max = 16;
    static constexpr std::size_t bytes_max = std::size_t{1} << 20;

    inline static std::array<std::atomic<T *>, count_max> all_{};

    std::unique_ptr<T> own_;
};

/* A value of C, and what gives back what it holds. All bytes are zero until it is given a value: of
 * a union, `{}` would leave those behind its first member as they are. It is assigned through a
 * reference: to g++ a call whose result is put into a member in place might throw, and leave it
 * without a value for the destructor, of which it then warns. */
template <class C, class F> struct held {
    C own;
    C &value = own;
    F free;
    explicit held(F free) : free(free) { std::memset(&own, 0, sizeof own); }
    held(const held &) = delete;
    held &operator=(const held &) = delete;
    ~held() { free(value); }
    /* What it holds is somebody else's from here on. */
    C moved() {
        C away = value;
        std::memset(&value, 0, sizeof value);
        return away;
    }
};

} // namespace detail
} // namespace nearcall

#endif
