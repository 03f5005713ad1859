/* Congestion marks by the real length of a queue: at the egress of a switch port, before HTB.
 *
 * The packet's HTB class follows from its DSCP, as the u32 filters of the port state it. Only members named here are read; the
 * loader relocates them by name (CO-RE), so that no header of a particular kernel is needed. Build: make -C bpf.
 */
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

char _license[] SEC("license") = "Dual MIT/GPL";

/* Written into the object before it is loaded: crates/priolane-linux/src/marker.rs. */
struct config {
	__u64 magic;
	__u64 above;      /* packets or bytes, the arriving packet included */
	__u32 bytes;      /* whether `above` is of bytes as Linux counts them */
	__u32 per_queue;  /* whether the packet's own queue counts, and not the whole port */
	__u8 minor[64];   /* by DSCP: minor number of the HTB class 1:x */
};
volatile const struct config config = { .magic = 0x6b72616d6e6c7270 };

#define OWN __attribute__((preserve_access_index))
struct hlist_node { struct hlist_node *next; } OWN;
struct hlist_head { struct hlist_node *first; } OWN;
struct Qdisc_class_common { __u32 classid; struct hlist_node hnode; } OWN;
struct Qdisc_class_hash { struct hlist_head *hash; unsigned int hashmask; } OWN;
struct qdisc_skb_head { __u32 qlen; } OWN;
struct gnet_stats_queue { __u32 backlog; } OWN;
struct Qdisc { struct qdisc_skb_head q; struct gnet_stats_queue qstats; long privdata[1]; } OWN;
struct htb_class {
	struct Qdisc_class_common common;
	union { struct { struct Qdisc *q; } leaf; };
} OWN;
struct htb_sched { struct Qdisc_class_hash clhash; } OWN;
struct netdev_queue { struct Qdisc *qdisc; } OWN;
struct net_device { struct netdev_queue *_tx; } OWN;
struct sk_buff { struct net_device *dev; } OWN;

extern void *bpf_cast_to_kern_ctx(void *ctx) __ksym;

/* The queue of HTB class 1:minor; 0 if there is none. The hash is the kernel's qdisc_class_hash. */
static __always_inline struct Qdisc *queue_of(struct Qdisc *root, __u32 minor)
{
	struct htb_sched *htb = (void *)root + bpf_core_field_offset(struct Qdisc, privdata);
	struct hlist_head *buckets = BPF_CORE_READ(htb, clhash.hash);
	__u32 id = 1 << 16 | minor, bucket = id;
	struct hlist_node *node = 0;

	bucket ^= bucket >> 8;
	bucket ^= bucket >> 4;
	bucket &= BPF_CORE_READ(htb, clhash.hashmask);
	bpf_probe_read_kernel(&node, sizeof(node), &buckets[bucket]);
	for (int i = 0; i < 32 && node; i++) {
		struct htb_class *class = (void *)node - bpf_core_field_offset(struct Qdisc_class_common, hnode);
		if (BPF_CORE_READ(class, common.classid) == id)
			return BPF_CORE_READ(class, leaf.q);
		node = BPF_CORE_READ(node, next);
	}
	return 0;
}

SEC("tc")
int mark(struct __sk_buff *ctx)
{
	struct sk_buff *packet = bpf_cast_to_kern_ctx(ctx);
	struct Qdisc *queue = packet->dev->_tx->qdisc;
	__u8 tos;
	__u64 length;

	if (ctx->protocol != bpf_htons(0x0800) || bpf_skb_load_bytes(ctx, 15, &tos, 1))
		return -1;
	if (config.per_queue)
		queue = queue_of(queue, config.minor[tos >> 2]);
	if (!queue)
		return -1;
	if (config.bytes)
		length = (__u64)BPF_CORE_READ(queue, qstats.backlog) + ctx->len;
	else
		length = (__u64)BPF_CORE_READ(queue, q.qlen) + 1;
	if (length > config.above)
		bpf_skb_ecn_set_ce(ctx);
	return -1;
}
