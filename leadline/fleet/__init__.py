"""Many runs: found below folders and addresses, read by a pool or by Ray, kept on the shelf."""
