#!/bin/busybox sh
# The first program of the emulated machine: mounts what it has, runs the tests, and turns it off.
# SYSROOT and WORKSPACE come from the kernel's command line.
/bin/busybox mkdir -p /bin && /bin/busybox --install -s /bin
export PATH=/bin
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
for module in /modules/*; do insmod $module; done
mount -t 9p -o trans=virtio,version=9p2000.L,ro,msize=1048576,cache=loose host /host

mount -t tmpfs -o size=60% written /written
mkdir /written/root /written/root-work /written/workspace /written/workspace-work
mount -t overlay -o lowerdir=/host$SYSROOT,upperdir=/written/root,workdir=/written/root-work root /new
if ! test -d /new$WORKSPACE; then
    mkdir -p /new$WORKSPACE
    mount -t overlay -o lowerdir=/host$WORKSPACE,upperdir=/written/workspace,workdir=/written/workspace-work workspace /new$WORKSPACE
fi
mkdir -p /new/proc /new/sys /new/dev /new/run /new/tmp /new/etc /new/bin /new/root
if ! test -e /new/bin/sh; then
    cp /bin/busybox /new/bin/
    chroot /new /bin/busybox --install -s /bin
    echo root:x:0:0::/root:/bin/sh > /new/etc/passwd
    echo root:x:0: > /new/etc/group
fi
mount -t proc proc /new/proc
mount -t sysfs sys /new/sys
mount -t devtmpfs dev /new/dev
mkdir -p /new/dev/shm /new/dev/pts
mount -t devpts devpts /new/dev/pts
mount -t tmpfs -o mode=1777 shm /new/dev/shm
mount -t tmpfs -o mode=755 run /new/run
mount -t tmpfs -o mode=1777 tmp /new/tmp
mount -t cgroup2 cgroup /new/sys/fs/cgroup
ip link set lo up

uname -rm
export RUST_BACKTRACE=0 HOME=/root USER=root LD_LIBRARY_PATH=/lib
while read name directory program; do
    echo "==> $name"
    # No program takes as long but one that hangs.
    PATH=/usr/bin:/bin:/usr/sbin:/sbin chroot /new /bin/sh -c "cd $directory && timeout 3600 $program --color never" < /dev/null 2>&1 ||
        echo "failed: $name"
done < /tests
echo all have run
echo o > /proc/sysrq-trigger
sleep 60
