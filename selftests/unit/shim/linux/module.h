/* SPDX-License-Identifier: GPL-2.0 */
/* Stand-ins for the kernel's names, for the tests as an ordinary program. */
#ifndef _SELFTESTS_SHIM_MODULE_H
#define _SELFTESTS_SHIM_MODULE_H

#define MODULE_DESCRIPTION(text) extern char module_text[sizeof(text)]
#define MODULE_AUTHOR(text) extern char module_author[sizeof(text)]
#define MODULE_LICENSE(text) extern char module_license[sizeof(text)]

#endif /* _SELFTESTS_SHIM_MODULE_H */
