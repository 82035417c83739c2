//! Compiles the interfaces of the two-domain tests and of the campaign.

fn main() {
    nearcall_idl::build("faults.idl");
    nearcall_idl::build("contract.idl");
    nearcall_idl::build("effects.idl");
    nearcall_idl::build("awaited.idl");
    nearcall_idl::build("turns.idl");
    nearcall_idl::build("stays.idl");
    nearcall_idl::build("exchanges.idl");
    nearcall_idl::build("judging.idl");
    nearcall_idl::build("estacks.idl");
    nearcall_idl::build("introducing.idl");
    nearcall_idl::build("forms.idl");
    nearcall_idl::build("pieces.proto");
    nearcall_idl::build("flowing.idl");
    nearcall_idl::build("surrounded.idl");
}
