"""The pure model of the Linux datapath: `walk` one packet, `converse` over a connection."""
