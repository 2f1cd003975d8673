"""What JSON Schemas accept: normal form, inclusion, witnesses."""
