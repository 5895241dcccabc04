"""EC2 as a node autoscaler sees it: instances, fleets, launch templates, images, types and prices are ours;
networks, security groups and key pairs are moto's (see ``network``)."""
