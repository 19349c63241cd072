/* A log volume with the latency of EBS: every sync takes 1.858 ms, the guide's mean, and never reaches the device. */
#include <time.h>
static int wait_a_sync(void)
{
	struct timespec t = {0, 1858000};
	nanosleep(&t, 0);
	return 0;
}
int fsync(int fd) { (void)fd; return wait_a_sync(); }
int fdatasync(int fd) { (void)fd; return wait_a_sync(); }
