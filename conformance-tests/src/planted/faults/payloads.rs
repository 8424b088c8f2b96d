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
        AttemptIsSigned: 501, Verbatim,
            "An attempt is kept as a signed number.",
            "payload::fingerprints_and_attempts_keep_their_value",
            "the attempt's number: found 2147483647";
        RevisionsCompareSigned: 502, Verbatim,
            "Revisions are compared as signed numbers.",
            "payload::revisions_keep_their_value",
            "the revision: found 2147483647";
        HeaderCountInByte: 503, Whole,
            "The number of headers is kept in a byte.",
            "payload::many_headers_come_back",
            "256 headers: load gave another result";
        HeaderNameLengthInByte: 504, Whole,
            "The length of a header's name is kept in a byte.",
            "payload::long_headers_come_back",
            "256 bytes in a header: load gave another result";
        BodyLengthInTwoBytes: 505, Whole,
            "The length of a body is kept in two bytes.",
            "payload::bodies_of_all_sizes_come_back",
            "65536 bytes: load gave another result";
        HeadersInMap: 506, Verbatim,
            "Headers are kept in a map: of several with one name the last is left.",
            "payload::headers_keep_order_duplicates_case_and_bytes",
            "headers: found";
        EmptyHeaderValueDropped: 507, Verbatim,
            "A header with an empty value is taken for none.",
            "payload::headers_keep_order_duplicates_case_and_bytes",
            "headers: found";
        EmptyHeaderNameDropped: 508, Verbatim,
            "A header with an empty name is taken for none.",
            "payload::empty_absent_and_missing_are_three_things",
            "an empty header: load gave another result";
        HeadOfNoBodyLost: 509, Verbatim,
            "A result that is not retained keeps no headers.",
            "payload::empty_absent_and_missing_are_three_things",
            "no body and an empty header: load gave another result";
        CodeZeroIsNone: 510, Verbatim,
            "A code of 0 is taken for none, and comes back as 200.",
            "payload::codes_keep_their_value",
            "code: found 200, due 0";
        BodyEndsAtNul: 511, Verbatim,
            "A body ends at its first NUL.",
            "payload::look_alikes_are_not_interpreted",
            "look-alike 5: load gave another result";
        BodyAsNumber: 512, Verbatim,
            "A body that reads as a number is kept as one.",
            "payload::look_alikes_are_not_interpreted",
            "look-alike 1: load gave another result";
        HeaderNamesAsText: 513, Verbatim,
            "Names of headers go through lossy UTF-8.",
            "payload::random_responses_come_back",
            "load gave another result";
        LoserIsShownNoHeaders: 514, Verbatim,
            "A refused claim is shown a result without its headers.",
            "payload::headers_keep_order_duplicates_case_and_bytes",
            "a refused claim was shown another result";
        OneBufferForReaders: 515, Verbatim,
            "A result is read through one buffer: who reads at the same time finds it empty.",
            "payload::parallel_replays_are_one_byte_string",
            "how many different bodies 200 replays saw";
    } };
}

pub(super) use payloads;
