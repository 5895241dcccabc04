# By the EC2NodeClass' name.
tofu import joiner_ec2_node_class.default default
