package outbox

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"time"
)

// The headers of a request to a receiver.
const (
	HeaderKey       = "Idempotency-Key"     // grant.Message.Key
	HeaderToken     = "Fence-Token"         // the posting's fencing token, in decimal
	HeaderTimestamp = "Rewardctl-Timestamp" // when it was signed, in seconds since 1970
	HeaderSignature = "Rewardctl-Signature" // see Sign
)

// SignatureAge is how old a signature may be, either way, so that one that was overheard is of no
// use later.
const SignatureAge = 5 * time.Minute

// Sign returns the signature of a request: "v1=" and, in hex, the HMAC-SHA256 under the shared
// secret of method, timestamp, key and body, each but the last followed by a line feed. The body
// of a status request is empty.
func Sign(secret, method, timestamp, key string, body []byte) string {
	mac := hmac.New(sha256.New, []byte(secret))
	fmt.Fprintf(mac, "%s\n%s\n%s\n", method, timestamp, key)
	mac.Write(body)
	return "v1=" + hex.EncodeToString(mac.Sum(nil))
}

// Verify reports whether a request carries the signature of somebody who knows the secret, made
// within SignatureAge of now.
func Verify(
	secret, method, timestamp, key string, body []byte, signature string, now time.Time,
) bool {
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil || now.Sub(time.Unix(seconds, 0)).Abs() > SignatureAge {
		return false
	}
	want := Sign(secret, method, timestamp, key, body)
	return hmac.Equal([]byte(want), []byte(signature))
}
