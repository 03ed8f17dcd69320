#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tidegate_parser_laws::law::record::holds(bytes));
