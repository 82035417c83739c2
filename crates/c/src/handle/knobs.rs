//! The knobs of a domain, as C sets them.

use std::time::Duration;

use nearcall::{DomainOptions, WaitPolicy};

/// Knobs of a domain. `nearcall_domain_options` in C.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct DomainOptionsRecord {
    pub wait: WaitPolicy,
    pub introduction_timeout_ns: u64,
    pub mapped_bytes_max: u64,
    pub own_bytes_max: u64,
    pub estack_bytes: u64,
    pub estacks_max: u32,
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

impl DomainOptionsRecord {
    /// What holds where nobody says anything.
    pub fn usual() -> DomainOptionsRecord {
        let usual = DomainOptions::default();
        DomainOptionsRecord {
            wait: usual.wait,
            introduction_timeout_ns: usual.introduction_timeout.as_nanos() as u64,
            mapped_bytes_max: usual.mapped_bytes_max,
            own_bytes_max: usual.own_bytes_max,
            estack_bytes: usual.estack_bytes as u64,
            estacks_max: usual.estacks_max,
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
        options.wait = self.wait;
        options.introduction_timeout = Duration::from_nanos(self.introduction_timeout_ns);
        options.mapped_bytes_max = self.mapped_bytes_max;
        options.own_bytes_max = self.own_bytes_max;
        options.estack_bytes = self.estack_bytes as usize;
        options.estacks_max = self.estacks_max;
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
        record.wait.yields_max = 7;
        record.introduction_timeout_ns = 12;
        record.mapped_bytes_max = 13;
        record.own_bytes_max = 14;
        record.estack_bytes = 22;
        record.estacks_max = 23;
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
        wanted.wait.yields_max = 7;
        wanted.introduction_timeout = Duration::from_nanos(12);
        wanted.mapped_bytes_max = 13;
        wanted.own_bytes_max = 14;
        wanted.estack_bytes = 22;
        wanted.estacks_max = 23;
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

    #[test]
    fn users_are_told_of_every_knob() {
        let manual = include_str!("../../../../docs/performance.md");
        let layout = include_str!("../../include/nearcall_layout.h");
        for (record, count) in [("nearcall_wait_policy", 11), ("nearcall_domain_options", 15)] {
            let before = format!("offsetof({record}, ");
            let fields = layout.split(&before).skip(1);
            let fields: Vec<&str> = fields.filter_map(|rest| rest.split(')').next()).collect();
            assert_eq!(fields.len(), count);
            for field in fields {
                assert!(manual.contains(&format!("`{field}`")), "{field} is not told of");
            }
        }
    }
}
