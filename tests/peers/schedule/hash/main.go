// Writes hashes.json: NodePools with the drift hashes that Karpenter's own code gives them. Run it in this folder after a change of
// pools.json, or when upstream changes its hash version:
//
//	GOTOOLCHAIN=go1.27.3 TZ=UTC go run . < pools.json > hashes.json
package main

import (
	"encoding/json"
	"fmt"
	"os"

	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
)

type golden struct {
	Pool json.RawMessage `json:"pool"`
	Hash string          `json:"hash"`
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	if v1.NodePoolHashVersion != "v3" {
		return fmt.Errorf("upstream's hash version is %s now", v1.NodePoolHashVersion)
	}
	var pools []json.RawMessage
	if err := json.NewDecoder(os.Stdin).Decode(&pools); err != nil {
		return err
	}
	found := make([]golden, 0, len(pools))
	for _, text := range pools {
		pool := v1.NodePool{}
		if err := json.Unmarshal(text, &pool); err != nil {
			return fmt.Errorf("%s: %w", text, err)
		}
		found = append(found, golden{Pool: text, Hash: pool.Hash()})
	}
	encoder := json.NewEncoder(os.Stdout)
	encoder.SetIndent("", "  ")
	return encoder.Encode(found)
}
