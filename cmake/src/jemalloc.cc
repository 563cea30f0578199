// How jemalloc is set up in a program that links it.
//   narenas       one for the loop and one for the threads that write to the disk
//   tcache_max    records and messages of 64 KiB come from the thread's own cache
//   dirty_decay   what was in use ten seconds ago is wanted again; the rest goes back to the system
extern "C" {
extern const char* const malloc_conf;
const char* const malloc_conf = "narenas:2,tcache_max:131072,dirty_decay_ms:10000,muzzy_decay_ms:0";
}
