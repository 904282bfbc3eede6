"""Strings: the ops that PyTorch has no counterpart for."""

_OPS = """
as_string decode_base64 decode_raw encode_base64 fingerprint reduce_join regex_full_match regex_replace string_join
string_length string_split string_split_v2 string_strip string_to_hash_bucket string_to_hash_bucket_fast
string_to_hash_bucket_strong string_to_number substr
"""

NO_COUNTERPART = dict.fromkeys(_OPS.split(), "PyTorch has no strings")
