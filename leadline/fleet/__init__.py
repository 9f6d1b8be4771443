"""Many runs: found below folders and addresses, read by a pool, by Ray or in shards, kept on the shelf."""
