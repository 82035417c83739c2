//! The knobs of a domain, as C sets them: records of the runtime's own, field by field.

use std::time::Duration;

use nearcall::{DomainOptions, WaitPolicy};

/// How long a side spins, yields and sleeps. `nearcall_wait_policy` in C.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct WaitPolicyRecord {
    pub sleep_slice_ns_min: u64,
    pub sleep_slice_ns_max: u64,
    pub linger_cycles_max: u32,
    pub spin_ns_max: u32,
    pub spin_ns_min: u32,
    pub polls_per_spin: u32,
    pub yields_max: u32,
    pub yield_ns_max: u32,
    pub slow_yields_ns_max: u32,
    pub yield_ban_waits_min: u32,
    pub yield_ban_waits_max: u32,
}

/// Knobs of a domain. `nearcall_domain_options` in C.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct DomainOptionsRecord {
    pub wait: WaitPolicyRecord,
    pub introduction_timeout_ns: u64,
    pub mapped_bytes_max: u64,
    pub own_bytes_max: u64,
    pub processors_max: u32,
    pub bindings_max: u32,
    pub handshakes_max: u32,
    pub astacks_max: u32,
    pub descriptors_max: u32,
    /// 0: the share of what the process may have that is the default.
    pub mappings_max: u32,
    /// As above.
    pub open_descriptors_max: u32,
    pub raises_descriptor_limit: bool,
    pub is_dumpable: bool,
}

/// The fields that the two have, by one name, in both directions.
macro_rules! same {
    ($policy:ident { $($field:ident),* $(,)? }) => {
        impl From<&WaitPolicy> for $policy {
            fn from(policy: &WaitPolicy) -> $policy {
                $policy { $($field: policy.$field),* }
            }
        }

        impl From<&$policy> for WaitPolicy {
            fn from(policy: &$policy) -> WaitPolicy {
                WaitPolicy { $($field: policy.$field),* }
            }
        }
    };
}

same!(WaitPolicyRecord {
    sleep_slice_ns_min,
    sleep_slice_ns_max,
    linger_cycles_max,
    spin_ns_max,
    spin_ns_min,
    polls_per_spin,
    yields_max,
    yield_ns_max,
    slow_yields_ns_max,
    yield_ban_waits_min,
    yield_ban_waits_max,
});

impl DomainOptionsRecord {
    /// What holds where nobody says anything.
    pub fn usual() -> DomainOptionsRecord {
        let usual = DomainOptions::default();
        DomainOptionsRecord {
            wait: (&usual.wait).into(),
            introduction_timeout_ns: usual.introduction_timeout.as_nanos() as u64,
            mapped_bytes_max: usual.mapped_bytes_max,
            own_bytes_max: usual.own_bytes_max,
            processors_max: usual.processors_max,
            bindings_max: usual.bindings_max,
            handshakes_max: usual.handshakes_max,
            astacks_max: usual.astacks_max,
            descriptors_max: usual.descriptors_max,
            mappings_max: usual.mappings_max.unwrap_or(0),
            open_descriptors_max: usual.open_descriptors_max.unwrap_or(0),
            raises_descriptor_limit: usual.raises_descriptor_limit,
            is_dumpable: usual.is_dumpable,
        }
    }

    /// What it says.
    pub fn options(&self) -> DomainOptions {
        let some = |most: u32| (most != 0).then_some(most);
        let mut options = DomainOptions::default();
        options.wait = (&self.wait).into();
        options.introduction_timeout = Duration::from_nanos(self.introduction_timeout_ns);
        options.mapped_bytes_max = self.mapped_bytes_max;
        options.own_bytes_max = self.own_bytes_max;
        options.processors_max = self.processors_max;
        options.bindings_max = self.bindings_max;
        options.handshakes_max = self.handshakes_max;
        options.astacks_max = self.astacks_max;
        options.descriptors_max = self.descriptors_max;
        options.mappings_max = some(self.mappings_max);
        options.open_descriptors_max = some(self.open_descriptors_max);
        options.raises_descriptor_limit = self.raises_descriptor_limit;
        options.is_dumpable = self.is_dumpable;
        options
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_has_changed_is_as_where_nobody_says_anything() {
        assert_eq!(DomainOptionsRecord::usual().options(), DomainOptions::default());
    }

    #[test]
    fn every_field_is_that_of_its_name() {
        let mut record = DomainOptionsRecord::usual();
        record.wait.sleep_slice_ns_min = 1;
        record.wait.sleep_slice_ns_max = 2;
        record.wait.linger_cycles_max = 3;
        record.wait.spin_ns_max = 4;
        record.wait.spin_ns_min = 5;
        record.wait.polls_per_spin = 6;
        record.wait.yields_max = 7;
        record.wait.yield_ns_max = 8;
        record.wait.slow_yields_ns_max = 9;
        record.wait.yield_ban_waits_min = 10;
        record.wait.yield_ban_waits_max = 11;
        record.introduction_timeout_ns = 12;
        record.mapped_bytes_max = 13;
        record.own_bytes_max = 14;
        record.processors_max = 15;
        record.bindings_max = 16;
        record.handshakes_max = 17;
        record.astacks_max = 18;
        record.descriptors_max = 19;
        record.mappings_max = 20;
        record.open_descriptors_max = 21;
        record.raises_descriptor_limit = false;
        record.is_dumpable = false;
        let mut wanted = DomainOptions::default();
        wanted.wait = WaitPolicy {
            sleep_slice_ns_min: 1,
            sleep_slice_ns_max: 2,
            linger_cycles_max: 3,
            spin_ns_max: 4,
            spin_ns_min: 5,
            polls_per_spin: 6,
            yields_max: 7,
            yield_ns_max: 8,
            slow_yields_ns_max: 9,
            yield_ban_waits_min: 10,
            yield_ban_waits_max: 11,
        };
        wanted.introduction_timeout = Duration::from_nanos(12);
        wanted.mapped_bytes_max = 13;
        wanted.own_bytes_max = 14;
        wanted.processors_max = 15;
        wanted.bindings_max = 16;
        wanted.handshakes_max = 17;
        wanted.astacks_max = 18;
        wanted.descriptors_max = 19;
        wanted.mappings_max = Some(20);
        wanted.open_descriptors_max = Some(21);
        wanted.raises_descriptor_limit = false;
        wanted.is_dumpable = false;
        assert_eq!(record.options(), wanted);
    }
}
