// Command schedule answers a snapshot with Karpenter's own scheduler.
//
// Input: files of Kubernetes objects (JSON or YAML) and one InstanceTypeCatalog. Output: the answer document on standard
// output. solveMillis is the time of Solve alone; setupMillis is what comes before it (cluster state, topology counts)
// and readMillis the reading of the files.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/karpenter/pkg/operator/injection"
	"sigs.k8s.io/karpenter/pkg/operator/options"
)

type settings struct {
	catalogue   string
	preferences string
	minValues   string
	threads     int
	budget      time.Duration
	repeat      int
	each        bool
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run() error {
	log.SetLogger(logr.Discard())
	var set settings
	flag.StringVar(&set.catalogue, "catalog", "", "file with the InstanceTypeCatalog")
	flag.StringVar(&set.preferences, "preferences", "respect", "respect or ignore")
	flag.StringVar(&set.minValues, "min-values", "strict", "strict or best-effort")
	flag.IntVar(&set.threads, "threads", 5, "how many places are tried at once; upstream's benchmark uses 5")
	flag.DurationVar(&set.budget, "budget", 0, "time for Solve, after which the answer is partial; 0 is without limit (the controller gives it one minute)")
	flag.BoolVar(&set.each, "each", false, "answer every file by itself, one document a line")
	flag.Parse()
	if set.catalogue == "" && !set.each {
		return errors.New("--catalog is needed: the file with the InstanceTypeCatalog")
	}
	if flag.NArg() == 0 {
		return errors.New("name at least one file of Kubernetes objects")
	}
	ctx, err := contextFor(set)
	if err != nil {
		return err
	}
	out := json.NewEncoder(os.Stdout)
	if !set.each {
		answer, err := answerFiles(ctx, set, set.catalogue, flag.Args())
		if err != nil {
			return err
		}
		return out.Encode(answer)
	}
	for _, file := range flag.Args() {
		// A differential case holds its catalogue beside its objects.
		answer, err := answerGuarded(ctx, set, file)
		if err != nil {
			answer = &Answer{Error: err.Error()}
		}
		if err := out.Encode(answer); err != nil {
			return err
		}
	}
	return nil
}

// answerGuarded turns a panic of the scheduler into an error, so that one case does not end a run of thousands.
func answerGuarded(ctx context.Context, set settings, file string) (answer *Answer, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("panic: %v", cause)
		}
	}()
	return answerFiles(ctx, set, file, []string{file})
}

func answerFiles(ctx context.Context, set settings, catalogue string, files []string) (*Answer, error) {
	start := time.Now()
	world, err := readWorld(files)
	if err != nil {
		return nil, err
	}
	cloud, err := readCatalogue(catalogue)
	if err != nil {
		return nil, err
	}
	read := time.Since(start)
	answer, err := solve(ctx, set, world, cloud)
	if err != nil {
		return nil, err
	}
	answer.ReadMillis = millis(read)
	return answer, nil
}

// contextFor carries the options that the controller would have been started with.
func contextFor(set settings) (context.Context, error) {
	policy := map[string]string{"respect": "Respect", "ignore": "Ignore"}[set.preferences]
	minimum := map[string]string{"strict": "Strict", "best-effort": "BestEffort"}[set.minValues]
	if policy == "" || minimum == "" {
		return nil, errors.New("--preferences is respect or ignore, --min-values is strict or best-effort")
	}
	opts := &options.Options{}
	fs := &options.FlagSet{FlagSet: flag.NewFlagSet("karpenter", flag.ContinueOnError)}
	opts.AddFlags(fs)
	if err := opts.Parse(fs, "--preference-policy", policy, "--min-values-policy", minimum, "--cpu-requests", fmt.Sprint(set.threads*1000)); err != nil {
		return nil, err
	}
	return options.ToContext(injection.WithControllerName(context.Background(), "provisioner"), opts), nil
}

func millis(d time.Duration) float64 {
	return float64(d.Microseconds()) / 1000
}
