// A client of lending.idl: `lender NAME` lends memory to its server, which ends once.
#include <algorithm>
#include <iostream>
#include <thread>
#include <utility>

#include "lending.hpp"
#include "maps.h"

using nearcall::call_error;
using nearcall::idl::lending::Lending;
using nearcall::idl::lending::Octets;
using nearcall::idl::lending::Other;

static constexpr std::size_t large = std::size_t(64) << 20;
/* Fits no A-stack. */
static constexpr std::size_t copied_bytes = std::size_t(1) << 20;
/* Segments that one binding has at most. */
static constexpr std::size_t lent_max = 64;

/* What must not return says. */
template <class F> static std::string said_by(F call) {
    try {
        call();
    } catch (const call_error &error) {
        CHECK(error.outcome == NEARCALL_USAGE && error.ran == NEARCALL_RAN_NO);
        return error.what();
    }
    return "nothing";
}

static void check_at(const Lending &client, nearcall::bytes octets, std::size_t index,
                     std::uint8_t octet) {
    std::uint32_t count = 0;
    CHECK(client.at(octets, static_cast<std::uint32_t>(index), count) == octet);
    CHECK(count == octets.size());
}

static void in_place(const Lending &client) {
    nearcall::lent frame = lend(client, large);
    CHECK(frame.size() == large && frame.data()[large - 1] == 0);
    for (std::uint8_t i = 1; i < 4; i++) {
        frame.data()[large - 1] = i;
        check_at(client, frame, large - 1, i);
    }
    frame.data()[copied_bytes - 1] = 9;
    check_at(client, nearcall::bytes(frame).first(copied_bytes), copied_bytes - 1, 9);
    CHECK(nearcall::bytes(frame).first(large + 1).size() == large);
    nearcall::lent moved = std::move(frame);
    check_at(client, moved, 0, 0);
    CHECK(!frame && moved);
    CHECK(!is_mapped(COPIED) && is_mapped(LENT));
}

/* Whatever has octets is an argument. */
static void beside_others(const Lending &client) {
    nearcall::lent frame = lend(client, copied_bytes);
    const Octets few = {1, 2, 3};
    std::string all;
    frame.data()[5] = 11;
    CHECK(client.among(few, "and", frame, 5, all) == 11 && all == "3 and 1048576");
    CHECK(client.among({}, "and", {4, 5}, 1, all) == 5 && all == "0 and 2");
    CHECK(client.among({few.data(), 2}, "and", few, 2, all) == 3 && all == "2 and 3");
    CHECK(!is_mapped(COPIED));
    std::fill(frame.begin(), frame.end(), std::uint8_t{13});
    for (const std::uint8_t octet : nearcall::bytes(std::as_const(frame)).first(few.size())) {
        CHECK(octet == 13);
    }
    check_at(client, frame, frame.size() - 1, 13);
    CHECK(!is_mapped(COPIED));
    check_at(client, Octets(copied_bytes, 6), copied_bytes - 1, 6);
    CHECK(is_mapped(COPIED));
}

static void refused(const nearcall::domain &domain, const Lending &client) {
    const Other other(domain, "counter");
    nearcall::lent frame = lend(client, 4096);
    std::uint32_t count = 0;
    CHECK(said_by([&] { other.count(frame); }) ==
          "octets is lent over another binding: lend it over the one that is called");
    CHECK(said_by([&] { client.at({frame.data(), 4097}, 0, count); }) ==
          "octets has 4097 bytes, and 4096 are lent where it begins");
    std::vector<nearcall::lent> all;
    while (all.size() + 1 < lent_max) {
        all.push_back(lend(client, 1));
    }
    CHECK(said_by([&] { lend(client, 1); }).find("64 segments are lent") != std::string::npos);
    all.clear();
    check_at(client, lend(client, 1), 0, 0);
}

static void under_way(const Lending &client) {
    nearcall::lent frame = lend(client, copied_bytes);
    std::uint8_t seen = 0;
    std::thread watching([&] { seen = client.watch(frame); });
    while (client.begun() < 1) {
    }
    frame.data()[0] = 20;
    client.look();
    watching.join();
    CHECK(seen == 20);
    auto posted = posting(client).watch(frame);
    while (client.begun() < 2) {
    }
    frame.data()[0] = 21;
    client.look();
    CHECK(posted.collect() == 20);
    client.tell(frame);
    while (client.told() > UINT8_MAX) {
    }
    CHECK(client.told() == 21);
}

static void outlived(const Lending &client) {
    nearcall::lent frame = lend(client, copied_bytes);
    std::int32_t first = 0, second = 0;
    frame.data()[copied_bytes - 1] = 50;
    CHECK(client.outlive(0, frame, first) == 50);
    CHECK(client.outlive(first, frame, second) == 50 && second != first);
}

int main(int argc, char **argv) try {
    nearcall::domain domain;
    {
        nearcall::import_options patient;
        patient.rebind_timeout = std::chrono::minutes(1);
        Lending client(domain, argv[argc - 1], patient);
        in_place(client);
        beside_others(client);
        refused(domain, client);
        under_way(client);
        outlived(client);
    }
    domain.shut_down();
    std::cout << checks << '\n';
    return 0;
} catch (const std::exception &error) {
    std::cerr << error.what() << '\n';
    return 1;
}
