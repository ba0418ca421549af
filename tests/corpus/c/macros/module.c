int before(void) { return 1; }

EXPORT_SYMBOL(before)
MODULE_LICENSE("GPL") @

int after(void) { return 1; }
