"""One Reading, many report formats. None computes anything: each lays out what the contract holds in the words of
`words/`."""
