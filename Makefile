# SPDX-License-Identifier: GPL-2.0
# tcp-reorder: build, try, test.  "make help" lists the targets.

# The kernel to build for: its headers, or its build tree.
KDIR ?= /lib/modules/$(shell uname -r)/build
# A User Mode Linux tree says so in its configuration.
ARCH_OPTION = $(if $(shell grep -s '^CONFIG_UML=y' $(KDIR)/.config),ARCH=um)
KBUILD = $(MAKE) -C $(KDIR) M=$(CURDIR) $(ARCH_OPTION)
# Shell text that runs a program of the project's own Python environment.
PYTHON = PYTHONPATH=$(CURDIR) PYTHONDONTWRITEBYTECODE=1 $$(lab/setup)/bin

.PHONY: all install load unload demo test check bench clean help headers
.DEFAULT_GOAL := all

all: headers ## build the modules for KDIR (default: the running kernel)
	$(KBUILD) modules

headers:
	@test -e $(KDIR)/Makefile || { \
		echo "make: no kernel headers in $(KDIR): install linux-headers-$$(uname -r), or name a tree with KDIR=" >&2; \
		exit 2; }

install: all ## install them; then they load by name (as root)
	$(KBUILD) modules_install
	depmod -a $(notdir $(patsubst %/build,%,$(KDIR)))

load: all ## load them from here and say what to set next (as root)
	insmod tcp_reorder/tcp_reorder.ko
	insmod tcp_avgdev/tcp_avgdev.ko || { rmmod tcp_reorder; exit 1; }
	@echo "Now: sysctl net.ipv4.tcp_recovery=0 net.ipv4.tcp_timestamps=0 net.ipv4.tcp_congestion_control=avgdev"

unload: ## remove them; refused while a connection or a namespace uses them (as root)
	rmmod tcp_avgdev tcp_reorder

demo: ## the first result on a real kernel, from nothing (as root; about 8 minutes the first time)
	@testbed/run first-look

test: ## every test, from nothing (as root; about 15 minutes the first time, then 3)
	@lab/run build > /dev/null
	@lab/run build --kernel 7.2 > /dev/null || true # tests that need it skip, with the reason
	@$(PYTHON)/pytest lab testbed selftests

check: ## style and static checks of everything (as root)
	@lab/run check

bench: ## how fast the lab is and what an ACK costs (as root)
	@testbed/run bench

clean: ## remove what make all built
	@test ! -e $(KDIR)/Makefile || $(KBUILD) clean

help: ## this list
	@sed -n 's/^\([a-z]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 10
	@echo "Variables: KDIR=$(KDIR), V=1 shows the commands."
