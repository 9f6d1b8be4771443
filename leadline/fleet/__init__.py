"""Many runs: found below folders and addresses, read by a pool of processes, kept on the shelf."""
