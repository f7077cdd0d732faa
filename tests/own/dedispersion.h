#define nr_dms                 64
#define nr_samples             1000
#define nr_channels            48
#define nr_samples_per_channel (nr_samples + 100)
