"""Strings: kernels on strings and their hashes."""

KERNELS = {
    "encoding": ("as_string", "decode_base64", "decode_raw", "encode_base64", "string_to_number"),
    "hashing": ("fingerprint", "string_to_hash_bucket", "string_to_hash_bucket_fast", "string_to_hash_bucket_strong"),
    "strings": (
        "reduce_join",
        "regex_full_match",
        "regex_replace",
        "string_join",
        "string_length",
        "string_split",
        "string_split_v2",
        "string_strip",
        "substr",
    ),
}
