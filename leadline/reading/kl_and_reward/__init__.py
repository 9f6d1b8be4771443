"""KL to the reference: which series it is, and how far it lets the policy be."""
