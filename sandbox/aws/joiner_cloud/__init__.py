"""A cloud account on one machine: moto with the gaps that matter to a node autoscaler closed.

One process answers the AWS APIs and the sandbox's own routes under ``/_sandbox/``. ``README.md`` beside this
package lists each gap of moto, where it is closed, and what remains different from AWS.
"""

ACCOUNT_ID = "123456789012"
ADMIN_KEY_ID = "AKIASANDBOXADMIN00000"
ADMIN_SECRET = "sandbox-admin-secret"
