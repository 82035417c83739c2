#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

/* No text in an open file is longer. */
#define NC_OPENED_BYTES_MAX 64
/* What a segment has: whole pages, whatever the machine's are. */
#define NC_SEGMENT_BYTES 65536

typedef enum nc_kind { NC_ANY, NC_BINDING, NC_FILE, NC_SEGMENT, NC_SOCKET } nc_kind;

/* An open file with a text in it, which whoever gets it reads once; a pipe where any will do. -1 if
 * there is none. */
NEARCALL_INLINE int nc_opened(nc_kind kind, const char *text) {
    const ssize_t count = (ssize_t)strlen(text);
    const int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE | F_SEAL_SEAL;
    /* A socket for packets passes for an introduction until somebody imports from it. */
    const int type = (kind == NC_BINDING ? SOCK_SEQPACKET : SOCK_STREAM) | SOCK_CLOEXEC;
    int ends[2] = {-1, -1};
    bool is_well;
    if (kind == NC_FILE || kind == NC_SEGMENT) {
        ends[0] = memfd_create("selftest", MFD_CLOEXEC | MFD_ALLOW_SEALING);
        is_well = pwrite(ends[0], text, (size_t)count, 0) == count;
        if (kind == NC_SEGMENT) {
            is_well = is_well && posix_fallocate(ends[0], 0, NC_SEGMENT_BYTES) == 0 &&
                      fcntl(ends[0], F_ADD_SEALS, seals) == 0;
        }
    } else {
        is_well = kind == NC_ANY ? pipe2(ends, O_CLOEXEC) == 0
                                 : socketpair(AF_UNIX, type, 0, ends) == 0;
        is_well = is_well && write(ends[1], text, (size_t)count) == count;
        nearcall_close(ends[1]);
    }
    if (!is_well) {
        nearcall_close(ends[0]);
        return -1;
    }
    return ends[0];
}

/* The text in an open file, up to its end or a NUL. */
NEARCALL_INLINE void nc_read(int fd, char text[NC_OPENED_BYTES_MAX + 1]) {
    size_t count = 0;
    ssize_t more;
    do {
        more = read(fd, text + count, NC_OPENED_BYTES_MAX - count);
        count += more > 0 ? (size_t)more : 0;
    } while (more > 0 && count < NC_OPENED_BYTES_MAX);
    text[count] = '\0';
}
