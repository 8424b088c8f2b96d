//! What becomes of bytes and numbers on their way through the store.

macro_rules! payloads {
    ([$next:ident $($later:ident)*] $($rows:tt)*) => { $next! { [$($later)*] $($rows)*
        BodyCut: 40, Whole,
            "A body is cut at 64 bytes.",
            "payload::bodies_of_all_sizes_come_back",
            "the first difference is at byte 64";
        BodyLossyText: 41, Verbatim,
            "A body goes through lossy UTF-8.",
            "payload::all_byte_values_come_back",
            "the first difference is at byte 128";
        HeadersSorted: 43, Verbatim,
            "Headers are sorted.",
            "payload::headers_keep_order_duplicates_case_and_bytes",
            "headers: found";
        HeadersLowerCased: 44, Verbatim,
            "Header names are put into lower case.",
            "payload::headers_keep_order_duplicates_case_and_bytes",
            "headers: found";
        CodeInByte: 46, Verbatim,
            "A code is kept in a byte.",
            "payload::codes_keep_their_value",
            "code: found 0, due 256";
        HeadersAsText: 91, Verbatim,
            "Headers go through text, which loses their bytes.",
            "payload::headers_keep_order_duplicates_case_and_bytes",
            "headers: found";
        RevisionInSixteenBits: 92, Verbatim,
            "A revision is kept in sixteen bits.",
            "payload::revisions_keep_their_value",
            "the revision: found";
        NotRetainedIsEmpty: 214, Verbatim,
            "A result that is not retained is kept as an empty body.",
            "complete::a_result_that_is_not_retained_is_no_empty_body",
            "body: found one, due none";
        FingerprintWithoutAlgorithm: 223, Verbatim,
            "A fingerprint is kept without the number of its algorithm.",
            "payload::fingerprints_and_attempts_keep_their_value",
            "a fingerprint came back altered";
        LineBreaksNormalised: 224, Verbatim,
            "Line breaks in bodies are normalised.",
            "payload::look_alikes_are_not_interpreted",
            "body: found";
        CutAtTheLimit: 225, Whole,
            "A response beyond the limit is cut.",
            "payload::a_response_beyond_the_limit_is_stored_whole_or_refused_whole",
            "what was stored of a response beyond the limit";
        CheckpointCut: 253, Whole,
            "A checkpoint is cut at 64 KiB.",
            "payload::checkpoints_of_all_sizes_come_back",
            "found 65536, due 65537";
        HeadersCut: 254, Whole,
            "Headers after the thirty-second are dropped.",
            "payload::many_headers_come_back",
            "33 headers: load gave another result";
        HeaderValueCut: 255, Whole,
            "The value of a header is cut at 4096 bytes.",
            "payload::long_headers_come_back",
            "4097 bytes in a header: load gave another result";
    } };
}

pub(super) use payloads;
