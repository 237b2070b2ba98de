"""From a form of a function that is nearly its PTX to one that is: small changes, compiled."""
