//! The queue of interruption events.

use crate::connect::Aws;
use crate::error::{Error, Named};

const GET_URL: &str = "sqs:GetQueueUrl";
const RECEIVE: &str = "sqs:ReceiveMessage";
const DELETE: &str = "sqs:DeleteMessage";

/// A message as it lies in the queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// The event as JSON.
    pub body: String,
    /// What deletes it.
    pub receipt: String,
}

/// The URL of a queue by name.
pub async fn url(aws: &Aws, name: &str) -> Result<String, Error> {
    let output = aws
        .sqs()
        .await?
        .get_queue_url()
        .queue_name(name)
        .send()
        .await
        .named(GET_URL)?;
    output.queue_url.ok_or(Error::Incomplete {
        operation: GET_URL,
        part: "QueueUrl",
    })
}

/// Waits up to `wait_seconds` (at most 20) for messages, at most ten; they are hidden from others for 20 seconds.
pub async fn receive(aws: &Aws, url: &str, wait_seconds: i32) -> Result<Vec<Message>, Error> {
    let call = aws
        .sqs()
        .await?
        .receive_message()
        .queue_url(url)
        .max_number_of_messages(10)
        .visibility_timeout(20)
        .wait_time_seconds(wait_seconds);
    let output = call.send().await.named(RECEIVE)?;
    Ok(output
        .messages
        .unwrap_or_default()
        .into_iter()
        .filter_map(|message| {
            Some(Message {
                body: message.body?,
                receipt: message.receipt_handle?,
            })
        })
        .collect())
}

/// Takes a message out of the queue.
pub async fn delete(aws: &Aws, url: &str, message: &Message) -> Result<(), Error> {
    let call = aws
        .sqs()
        .await?
        .delete_message()
        .queue_url(url)
        .receipt_handle(&message.receipt);
    call.send().await.named(DELETE)?;
    Ok(())
}
