// The scenario dctcp_leafspine144 of priolane's bench (docs/performance.md) in ns-3.37: 9 x 16 hosts, 4 spines, 10G/40G,
// links of 1 us, DCTCP, a flow list from a file.
//
//   leafspine --flows=LIST.csv        start_ns,src,dst,bytes in each line, after comments (#) and names of columns
//
// prints one line of JSON when all flows are complete:
//
//   {"flows", "packet_hops", "events", "cpu_s", "flow_bytes": [..], "fct_s": [..]}
//
// A packet-hop is a packet that left an egress queue for its link. cpu_s is CPU time of Simulator::Run alone: building
// the network and reading the list are not in it. fct_s is from a flow's start to the arrival of its last byte at the
// receiving application, the handshake included.
//
// ns-3 has no per-flow ECMP with paths one can state, so routes are computed here, in constant time.

#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include <ctime>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

using namespace ns3;

namespace
{

const uint32_t LEAVES = 9;
const uint32_t HOSTS_PER_LEAF = 16;
const uint32_t SPINES = 4;
const uint32_t HOSTS = LEAVES * HOSTS_PER_LEAF;
// Flow f sends from port FIRST_PORT + f, so that its number is in its packets.
const uint16_t FIRST_PORT = 10000;
const uint16_t SINK_PORT = 9;
const uint32_t MSS = 1448;
// Host h has the address 10.0.0.0 + 4h + 1.
const uint32_t HOST_NET = 0x0a000000;
const uint32_t FABRIC_NET = 0x0b000000;

// SplitMix64 of a flow's number; mod SPINES it is the flow's spine, in both directions.
uint64_t
SplitMix64(uint64_t x)
{
    x += 0x9E3779B97F4A7C15ull;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
    return x ^ (x >> 31);
}

uint32_t
HostOf(Ipv4Address address)
{
    return (address.Get() & 0x00ffffff) >> 2;
}

enum class Tier
{
    Host,
    Leaf,
    Spine
};

// Routing by tier: hosts send up, leaves down or to the flow's spine, spines to the destination's leaf.
class FabricRouting : public Ipv4RoutingProtocol
{
  public:
    static TypeId GetTypeId()
    {
        static TypeId id = TypeId("PriolaneFabricRouting").SetParent<Ipv4RoutingProtocol>();
        return id;
    }

    // To be called when all interfaces are there. Interface i + 1 leads to down link i, then to spine i.
    void Place(Tier tier, uint32_t number)
    {
        m_tier = tier;
        m_number = number;
        for (uint32_t i = 1; i < m_ip->GetNInterfaces(); i++)
        {
            Ptr<Ipv4Route> route = Create<Ipv4Route>();
            route->SetOutputDevice(m_ip->GetNetDevice(i));
            route->SetSource(m_ip->GetAddress(i, 0).GetLocal());
            route->SetGateway(Ipv4Address::GetAny());
            m_routes.push_back(route);
        }
    }

    Ptr<Ipv4Route> RouteOutput(Ptr<Packet>, const Ipv4Header& header, Ptr<NetDevice>, Socket::SocketErrno& error) override
    {
        error = Socket::ERROR_NOTERROR;
        m_routes[0]->SetDestination(header.GetDestination());
        return m_routes[0];
    }

    bool RouteInput(Ptr<const Packet> packet, const Ipv4Header& header, Ptr<const NetDevice>, UnicastForwardCallback forward,
                    MulticastForwardCallback, LocalDeliverCallback deliver, ErrorCallback) override
    {
        if (m_tier == Tier::Host)
        {
            deliver(packet, header, 1);
            return true;
        }
        const uint32_t host = HostOf(header.GetDestination());
        uint32_t choice = host / HOSTS_PER_LEAF;
        if (m_tier == Tier::Leaf)
        {
            choice = choice == m_number ? host % HOSTS_PER_LEAF : HOSTS_PER_LEAF + SpineOf(packet);
        }
        forward(m_routes[choice], packet, header);
        return true;
    }

    void NotifyInterfaceUp(uint32_t) override {}
    void NotifyInterfaceDown(uint32_t) override {}
    void NotifyAddAddress(uint32_t, Ipv4InterfaceAddress) override {}
    void NotifyRemoveAddress(uint32_t, Ipv4InterfaceAddress) override {}
    void SetIpv4(Ptr<Ipv4> ip) override { m_ip = ip; }
    void PrintRoutingTable(Ptr<OutputStreamWrapper>, Time::Unit) const override {}

  private:
    static uint32_t SpineOf(Ptr<const Packet> packet)
    {
        TcpHeader tcp;
        packet->PeekHeader(tcp);
        const bool ack = tcp.GetSourcePort() == SINK_PORT;
        const uint32_t port = ack ? tcp.GetDestinationPort() : tcp.GetSourcePort();
        return SplitMix64(port - FIRST_PORT) % SPINES;
    }

    Tier m_tier = Tier::Host;
    uint32_t m_number = 0;
    Ptr<Ipv4> m_ip;
    std::vector<Ptr<Ipv4Route>> m_routes;
};

class FabricRoutingHelper : public Ipv4RoutingHelper
{
  public:
    FabricRoutingHelper* Copy() const override { return new FabricRoutingHelper(*this); }
    Ptr<Ipv4RoutingProtocol> Create(Ptr<Node>) const override { return CreateObject<FabricRouting>(); }
};

struct Flow
{
    uint64_t start_ns = 0;
    uint32_t src = 0;
    uint32_t dst = 0;
    uint64_t bytes = 0;
    uint64_t sent = 0;
    uint64_t received = 0;
    // Negative until it is complete.
    double fct_s = -1;
    Ptr<Socket> socket;
};

std::vector<Flow> g_flows;
NodeContainer g_hosts;
uint64_t g_complete = 0;

// Gives the socket what it has room for; closes it after the last byte.
void
Fill(Ptr<Socket> socket, uint32_t number)
{
    Flow& flow = g_flows[number];
    while (flow.sent < flow.bytes)
    {
        const uint64_t at_once = std::min<uint64_t>(flow.bytes - flow.sent, MSS * 64);
        const uint32_t room = std::min<uint64_t>(at_once, socket->GetTxAvailable());
        if (room == 0)
        {
            return;
        }
        const int taken = socket->Send(Create<Packet>(room));
        if (taken <= 0)
        {
            return;
        }
        flow.sent += taken;
    }
    socket->Close();
}

void
OnConnected(uint32_t number, Ptr<Socket> socket)
{
    Fill(socket, number);
}

void
OnRoom(uint32_t number, Ptr<Socket> socket, uint32_t)
{
    if (g_flows[number].sent < g_flows[number].bytes)
    {
        Fill(socket, number);
    }
}

void
Start(uint32_t number)
{
    Flow& flow = g_flows[number];
    flow.socket = Socket::CreateSocket(g_hosts.Get(flow.src), TcpSocketFactory::GetTypeId());
    flow.socket->Bind(InetSocketAddress(Ipv4Address::GetAny(), FIRST_PORT + number));
    flow.socket->SetConnectCallback(MakeBoundCallback(&OnConnected, number), MakeNullCallback<void, Ptr<Socket>>());
    flow.socket->SetSendCallback(MakeBoundCallback(&OnRoom, number));
    flow.socket->Connect(InetSocketAddress(Ipv4Address(HOST_NET + 4 * flow.dst + 1), SINK_PORT));
}

void
OnReceived(uint32_t number, Ptr<Socket> socket)
{
    Flow& flow = g_flows[number];
    while (Ptr<Packet> packet = socket->Recv())
    {
        flow.received += packet->GetSize();
    }
    if (flow.fct_s < 0 && flow.received >= flow.bytes)
    {
        flow.fct_s = (Simulator::Now() - NanoSeconds(flow.start_ns)).GetSeconds();
        if (++g_complete == g_flows.size())
        {
            Simulator::Stop();
        }
    }
}

void
OnAccepted(Ptr<Socket> socket, const Address& from)
{
    const uint32_t number = InetSocketAddress::ConvertFrom(from).GetPort() - FIRST_PORT;
    socket->SetRecvCallback(MakeBoundCallback(&OnReceived, number));
    socket->SetCloseCallbacks(MakeCallback(&Socket::ShutdownSend, socket), MakeNullCallback<void, Ptr<Socket>>());
}

// ns-3's defaults are those of the Internet: each of these differs.
void
SetDefaults()
{
    Time::SetResolution(Time::PS);
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", StringValue("ns3::TcpDctcp"));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(MSS));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(1));
    Config::SetDefault("ns3::TcpSocket::ConnTimeout", TimeValue(MilliSeconds(5)));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(2000000));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(2000000));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(MilliSeconds(5)));
    Config::SetDefault("ns3::TcpSocketBase::ClockGranularity", TimeValue(MicroSeconds(1)));
    Config::SetDefault("ns3::RttEstimator::InitialEstimation", TimeValue(MicroSeconds(100)));
    Config::SetDefault("ns3::RedQueueDisc::UseEcn", BooleanValue(true));
    Config::SetDefault("ns3::RedQueueDisc::UseHardDrop", BooleanValue(false));
    Config::SetDefault("ns3::RedQueueDisc::Gentle", BooleanValue(false));
    Config::SetDefault("ns3::RedQueueDisc::QW", DoubleValue(1));
    Config::SetDefault("ns3::RedQueueDisc::MeanPktSize", UintegerValue(1500));
    GlobalValue::Bind("ChecksumEnabled", BooleanValue(false));
}

struct LinkKind
{
    const char* rate;
    // Marks packets that find as many waiting.
    double mark;
};

// One link, with a marking queue at both ends; the queues are added to `queues`.
void
Join(Ptr<Node> a, Ptr<Node> b, const LinkKind& kind, uint32_t net, QueueDiscContainer& queues)
{
    PointToPointHelper link;
    link.SetDeviceAttribute("DataRate", StringValue(kind.rate));
    link.SetChannelAttribute("Delay", StringValue("1us"));
    link.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize", StringValue("1p"));
    NetDeviceContainer devices = link.Install(a, b);
    TrafficControlHelper control;
    control.SetRootQueueDisc("ns3::RedQueueDisc", "MinTh", DoubleValue(kind.mark), "MaxTh", DoubleValue(kind.mark),
                             "MaxSize", StringValue("20000p"), "LinkBandwidth", StringValue(kind.rate), "LinkDelay",
                             StringValue("1us"));
    queues.Add(control.Install(devices));
    for (uint32_t i = 0; i < 2; i++)
    {
        Ptr<Ipv4> ip = devices.Get(i)->GetNode()->GetObject<Ipv4>();
        const uint32_t interface = ip->AddInterface(devices.Get(i));
        ip->AddAddress(interface, Ipv4InterfaceAddress(Ipv4Address(net + 1 + i), Ipv4Mask("255.255.255.252")));
        ip->SetMetric(interface, 1);
        ip->SetUp(interface);
    }
}

void
PlaceAll(const NodeContainer& nodes, Tier tier)
{
    for (uint32_t i = 0; i < nodes.GetN(); i++)
    {
        DynamicCast<FabricRouting>(nodes.Get(i)->GetObject<Ipv4>()->GetRoutingProtocol())->Place(tier, i);
    }
}

// The network, and the queues of all its ports.
QueueDiscContainer
Build()
{
    NodeContainer leaves;
    NodeContainer spines;
    g_hosts.Create(HOSTS);
    leaves.Create(LEAVES);
    spines.Create(SPINES);
    InternetStackHelper stack;
    FabricRoutingHelper routing;
    stack.SetRoutingHelper(routing);
    stack.SetIpv6StackInstall(false);
    stack.InstallAll();

    QueueDiscContainer queues;
    for (uint32_t host = 0; host < HOSTS; host++)
    {
        Join(g_hosts.Get(host), leaves.Get(host / HOSTS_PER_LEAF), {"10Gbps", 65}, HOST_NET + 4 * host, queues);
    }
    for (uint32_t leaf = 0; leaf < LEAVES; leaf++)
    {
        for (uint32_t spine = 0; spine < SPINES; spine++)
        {
            const uint32_t net = FABRIC_NET + 4 * (leaf * SPINES + spine);
            Join(leaves.Get(leaf), spines.Get(spine), {"40Gbps", 260}, net, queues);
        }
    }
    PlaceAll(g_hosts, Tier::Host);
    PlaceAll(leaves, Tier::Leaf);
    PlaceAll(spines, Tier::Spine);
    return queues;
}

void
Listen(std::vector<Ptr<Socket>>& listeners)
{
    for (uint32_t host = 0; host < HOSTS; host++)
    {
        Ptr<Socket> socket = Socket::CreateSocket(g_hosts.Get(host), TcpSocketFactory::GetTypeId());
        socket->Bind(InetSocketAddress(Ipv4Address::GetAny(), SINK_PORT));
        socket->Listen();
        socket->SetAcceptCallback(MakeNullCallback<bool, Ptr<Socket>, const Address&>(), MakeCallback(&OnAccepted));
        listeners.push_back(socket);
    }
}

// Reads the flow list; false with a message if a line is not a flow of this network.
bool
Read(const std::string& name)
{
    std::ifstream file(name);
    std::string line;
    while (std::getline(file, line))
    {
        if (line.empty() || line[0] == '#' || line[0] == 's')
        {
            continue;
        }
        Flow flow;
        unsigned long long start = 0;
        unsigned long long bytes = 0;
        const int fields = std::sscanf(line.c_str(), "%llu,%u,%u,%llu", &start, &flow.src, &flow.dst, &bytes);
        if (fields != 4 || flow.src >= HOSTS || flow.dst >= HOSTS || flow.src == flow.dst || bytes == 0)
        {
            std::cerr << name << ": not a flow: " << line << "\n";
            return false;
        }
        flow.start_ns = start;
        flow.bytes = bytes;
        g_flows.push_back(flow);
    }
    if (g_flows.empty() || g_flows.size() > 65535u - FIRST_PORT)
    {
        std::cerr << name << ": " << g_flows.size() << " flows; there must be 1 to " << 65535 - FIRST_PORT << "\n";
        return false;
    }
    return true;
}

double
CpuSeconds()
{
    timespec now{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

void
Print(const QueueDiscContainer& queues, double cpu_s)
{
    uint64_t hops = 0;
    for (uint32_t i = 0; i < queues.GetN(); i++)
    {
        hops += queues.Get(i)->GetStats().nTotalSentPackets;
    }
    std::cout.precision(12);
    std::cout << "{\"flows\": " << g_flows.size() << ", \"packet_hops\": " << hops
              << ", \"events\": " << Simulator::GetEventCount() << ", \"cpu_s\": " << cpu_s << ", \"flow_bytes\": [";
    for (size_t i = 0; i < g_flows.size(); i++)
    {
        std::cout << (i ? ", " : "") << g_flows[i].bytes;
    }
    std::cout << "], \"fct_s\": [";
    for (size_t i = 0; i < g_flows.size(); i++)
    {
        std::cout << (i ? ", " : "") << g_flows[i].fct_s;
    }
    std::cout << "]}\n";
}

} // namespace

int
main(int argc, char** argv)
{
    std::string list;
    CommandLine command;
    command.AddValue("flows", "flow list: start_ns,src,dst,bytes", list);
    command.Parse(argc, argv);
    SetDefaults();
    if (!Read(list))
    {
        return 2;
    }
    const QueueDiscContainer queues = Build();
    std::vector<Ptr<Socket>> listeners;
    Listen(listeners);
    for (uint32_t i = 0; i < g_flows.size(); i++)
    {
        const uint32_t node = g_hosts.Get(g_flows[i].src)->GetId();
        Simulator::ScheduleWithContext(node, NanoSeconds(g_flows[i].start_ns), &Start, i);
    }
    Simulator::Stop(Seconds(5));
    const double before = CpuSeconds();
    Simulator::Run();
    const double cpu_s = CpuSeconds() - before;
    if (g_complete < g_flows.size())
    {
        std::cerr << g_flows.size() - g_complete << " flows did not complete\n";
        return 1;
    }
    Print(queues, cpu_s);
    return 0;
}
