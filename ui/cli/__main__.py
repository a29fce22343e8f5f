"""`python -m ui.cli` is `confer`."""

from ui.cli import main

main()
