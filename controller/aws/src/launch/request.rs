//! Templates and groups as calls of the SDK.

use super::group::Group;
use super::lost::{client_token, launch_tag};
use super::order::Order;
use super::template::{Disk, Interface, Market, TemplateSpec};
use crate::instances::ec2_tags;
use crate::tags::{self, Tags};
use aws_sdk_ec2::client::Client;
use aws_sdk_ec2::operation::create_fleet::builders::CreateFleetFluentBuilder;
use aws_sdk_ec2::operation::create_launch_template::builders::CreateLaunchTemplateFluentBuilder;
use aws_sdk_ec2::types as ec2;
use joiner_core::catalogue::CapacityType;

/// CreateLaunchTemplate of a template; `tags` are those of its data with the connection's default tags.
pub(super) fn create_template(
    client: &Client,
    spec: &TemplateSpec,
    tags: &Tags,
) -> CreateLaunchTemplateFluentBuilder {
    client
        .create_launch_template()
        .launch_template_name(spec.name())
        .launch_template_data(data(spec, tags))
        .tag_specifications(tagged(ec2::ResourceType::LaunchTemplate, tags))
}

/// CreateFleet of an order.
pub(super) fn create_fleet(
    client: &Client,
    order: &Order<'_>,
    groups: &[Group],
    tags: &Tags,
    attempt: u32,
) -> CreateFleetFluentBuilder {
    let (kind, spot, on_demand) = match order.plan.capacity_type {
        CapacityType::Spot => (
            ec2::DefaultTargetCapacityType::Spot,
            Some(
                ec2::SpotOptionsRequest::builder()
                    .allocation_strategy(ec2::SpotAllocationStrategy::PriceCapacityOptimized)
                    .build(),
            ),
            None,
        ),
        CapacityType::OnDemand | CapacityType::Reserved => match market(groups) {
            None => (
                ec2::DefaultTargetCapacityType::OnDemand,
                None,
                Some(
                    ec2::OnDemandOptionsRequest::builder()
                        .allocation_strategy(ec2::FleetOnDemandAllocationStrategy::LowestPrice)
                        .build(),
                ),
            ),
            Some(Market::CapacityBlock) => (ec2::DefaultTargetCapacityType::CapacityBlock, None, None),
            Some(Market::Interruptible) => (ec2::DefaultTargetCapacityType::ReservedCapacity, None, None),
        },
    };
    let interruptible = (market(groups) == Some(Market::Interruptible)).then(|| {
        ec2::ReservedCapacityOptionsRequest::builder()
            .reservation_types(ec2::FleetReservationType::InterruptibleCapacityReservation)
            .build()
    });
    let (for_instances, for_volumes) = tags_of_claims(order, tags);
    client
        .create_fleet()
        .r#type(ec2::FleetType::Instant)
        .client_token(client_token(order.claims, attempt))
        .set_context(order.class.context.clone())
        .set_launch_template_configs(Some(groups.iter().map(config).collect()))
        .target_capacity_specification(
            ec2::TargetCapacitySpecificationRequest::builder()
                .default_target_capacity_type(kind)
                .total_target_capacity(i32::try_from(order.claims.len()).unwrap_or(i32::MAX))
                .build(),
        )
        .set_spot_options(spot)
        .set_on_demand_options(on_demand)
        .set_reserved_capacity_options(interruptible)
        .tag_specifications(tagged(ec2::ResourceType::Instance, &for_instances))
        .tag_specifications(tagged(ec2::ResourceType::Volume, &for_volumes))
        .tag_specifications(tagged(ec2::ResourceType::Fleet, tags))
}

/// The market of the groups' reservations: a plan is of one.
fn market(groups: &[Group]) -> Option<Market> {
    groups.first()?.template.target.as_ref()?.market
}

/// Tags of instances and of volumes: an order for one claim names it, and every order says which claims it was for.
fn tags_of_claims(order: &Order<'_>, tags: &Tags) -> (Tags, Tags) {
    let mut volumes = tags.clone();
    if let [only] = order.claims {
        volumes.insert(tags::NODE_CLAIM.to_owned(), only.name.clone());
    }
    let mut instances = volumes.clone();
    instances.insert(tags::LAUNCH.to_owned(), launch_tag(order.claims));
    (instances, volumes)
}

fn config(group: &Group) -> ec2::FleetLaunchTemplateConfigRequest {
    let overrides = group
        .overrides
        .iter()
        .map(|choice| {
            ec2::FleetLaunchTemplateOverridesRequest::builder()
                .instance_type(choice.instance_type.as_str().into())
                .subnet_id(&choice.subnet)
                .image_id(&choice.image)
                // Said by the subnet already; here it makes the errors in the answer complete.
                .availability_zone(&choice.zone)
                .priority(dollars(choice.price.micros()))
                .build()
        })
        .collect();
    ec2::FleetLaunchTemplateConfigRequest::builder()
        .launch_template_specification(
            ec2::FleetLaunchTemplateSpecificationRequest::builder()
                .launch_template_name(group.template.name())
                .version("$Latest")
                .build(),
        )
        .set_overrides(Some(overrides))
        .build()
}

/// Prices fit into the 52 bits that a float keeps exactly.
fn dollars(micros: u64) -> f64 {
    micros as f64 / 1_000_000.0
}

pub(super) fn tagged(resource: ec2::ResourceType, tags: &Tags) -> ec2::TagSpecification {
    ec2::TagSpecification::builder()
        .resource_type(resource)
        .set_tags(Some(ec2_tags(tags)))
        .build()
}

fn data(spec: &TemplateSpec, tags: &Tags) -> ec2::RequestLaunchTemplateData {
    let (endpoint, tokens, ipv6, hop_limit) = &spec.metadata;
    let at_launch = |resource| {
        ec2::LaunchTemplateTagSpecificationRequest::builder()
            .resource_type(resource)
            .set_tags(Some(ec2_tags(tags)))
            .build()
    };
    let mut data = ec2::RequestLaunchTemplateData::builder()
        .image_id(&spec.image)
        .user_data(&spec.user_data)
        .iam_instance_profile(
            ec2::LaunchTemplateIamInstanceProfileSpecificationRequest::builder()
                .name(&spec.instance_profile)
                .build(),
        )
        .set_block_device_mappings(
            (!spec.disks.is_empty()).then(|| spec.disks.iter().map(block_device).collect()),
        )
        .monitoring(
            ec2::LaunchTemplatesMonitoringRequest::builder()
                .enabled(spec.detailed_monitoring)
                .build(),
        )
        .metadata_options(
            ec2::LaunchTemplateInstanceMetadataOptionsRequest::builder()
                .http_endpoint(endpoint.as_str().into())
                .http_tokens(tokens.as_str().into())
                .http_protocol_ipv6(ipv6.as_str().into())
                .http_put_response_hop_limit(*hop_limit)
                // An account may switch tags in metadata on, which refuses keys with a slash, and ours have one.
                .instance_metadata_tags(ec2::LaunchTemplateInstanceMetadataTagsState::Disabled)
                .build(),
        )
        .set_network_interfaces(Some(
            spec.interfaces
                .iter()
                .map(|interface| network_interface(spec, interface))
                .collect(),
        ))
        .placement(
            ec2::LaunchTemplatePlacementRequest::builder()
                .tenancy(spec.tenancy.as_str().into())
                .set_group_id(spec.placement_group.clone())
                .build(),
        )
        .capacity_reservation_specification(reservation(spec))
        .set_instance_market_options(market_options(spec))
        .tag_specifications(at_launch(ec2::ResourceType::NetworkInterface));
    if spec.spot {
        data = data.tag_specifications(at_launch(ec2::ResourceType::SpotInstancesRequest));
    }
    if let Some(switch) = &spec.nested_virtualization {
        data = data.cpu_options(
            ec2::LaunchTemplateCpuOptionsRequest::builder()
                .nested_virtualization(switch.as_str().into())
                .build(),
        );
    }
    data.build()
}

fn reservation(spec: &TemplateSpec) -> ec2::LaunchTemplateCapacityReservationSpecificationRequest {
    let request = ec2::LaunchTemplateCapacityReservationSpecificationRequest::builder();
    match &spec.target {
        None => request.capacity_reservation_preference(ec2::CapacityReservationPreference::None),
        Some(target) => request
            .capacity_reservation_preference(ec2::CapacityReservationPreference::CapacityReservationsOnly)
            .capacity_reservation_target(
                ec2::CapacityReservationTarget::builder()
                    .capacity_reservation_id(&target.reservation)
                    .build(),
            ),
    }
    .build()
}

fn market_options(spec: &TemplateSpec) -> Option<ec2::LaunchTemplateInstanceMarketOptionsRequest> {
    let market = match spec.target.as_ref()?.market? {
        Market::CapacityBlock => ec2::MarketType::CapacityBlock,
        Market::Interruptible => ec2::MarketType::InterruptibleCapacityReservation,
    };
    Some(
        ec2::LaunchTemplateInstanceMarketOptionsRequest::builder()
            .market_type(market)
            .build(),
    )
}

fn block_device(disk: &Disk) -> ec2::LaunchTemplateBlockDeviceMappingRequest {
    let Disk {
        device,
        gib,
        kind,
        iops,
        throughput,
        encrypted,
        delete_on_termination,
        kms_key,
        snapshot,
        initialization_rate,
    } = disk;
    ec2::LaunchTemplateBlockDeviceMappingRequest::builder()
        .device_name(device)
        .ebs(
            ec2::LaunchTemplateEbsBlockDeviceRequest::builder()
                .set_volume_size(*gib)
                .set_volume_type(kind.as_deref().map(Into::into))
                .set_iops(*iops)
                .set_throughput(*throughput)
                .set_encrypted(*encrypted)
                .set_delete_on_termination(*delete_on_termination)
                .set_kms_key_id(kms_key.clone())
                .set_snapshot_id(snapshot.clone())
                .set_volume_initialization_rate(*initialization_rate)
                .build(),
        )
        .build()
}

fn network_interface(
    spec: &TemplateSpec,
    interface: &Interface,
) -> ec2::LaunchTemplateInstanceNetworkInterfaceSpecificationRequest {
    let Interface {
        card,
        device,
        kind,
        security_groups,
        public_ip,
        ipv4_prefixes,
        ipv6_prefixes,
        primary_ipv6,
        tracks_connections,
    } = interface;
    let tracking = spec
        .connection_tracking
        .filter(|_| *tracks_connections)
        .map(|(tcp, stream, udp)| {
            ec2::ConnectionTrackingSpecificationRequest::builder()
                .set_tcp_established_timeout(tcp)
                .set_udp_stream_timeout(stream)
                .set_udp_timeout(udp)
                .build()
        });
    ec2::LaunchTemplateInstanceNetworkInterfaceSpecificationRequest::builder()
        .set_network_card_index(*card)
        .device_index(*device)
        .set_interface_type(kind.clone())
        .set_groups(Some(security_groups.clone()))
        .set_associate_public_ip_address(*public_ip)
        .set_ipv4_prefix_count(*ipv4_prefixes)
        .set_ipv6_prefix_count(*ipv6_prefixes)
        .set_primary_ipv6(primary_ipv6.then_some(true))
        .set_ipv6_address_count(primary_ipv6.then_some(1))
        .set_connection_tracking_specification(tracking)
        .build()
}
