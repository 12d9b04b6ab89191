// The push service of Grafana Pyroscope as its own API generates it; each profile is read by Go's own pprof package. Prints a line
// "profile LABELS SAMPLES TYPE=TOTAL…", and "sample TYPE=VALUE… LABELS LEAF…ROOT" for each sample. Answers Parca's gateway of
// WriteRaw too, which is written here by hand: Parca's module is too large for a test.
//
//	pyroscope PORT [TOKEN]
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"
	"sort"
	"strings"
	"sync"

	"connectrpc.com/connect"
	"github.com/google/pprof/profile"
	pushv1 "github.com/grafana/pyroscope/api/gen/proto/go/push/v1"
	"github.com/grafana/pyroscope/api/gen/proto/go/push/v1/pushv1connect"
)

var printing sync.Mutex

func show(labels map[string]string, raw []byte) error {
	p, err := profile.ParseData(raw)
	if err != nil {
		return err
	}
	if err := p.CheckValid(); err != nil {
		return err
	}
	printing.Lock()
	defer printing.Unlock()
	totals := make([]int64, len(p.SampleType))
	for _, sample := range p.Sample {
		var values, said, path []string
		for i, value := range sample.Value {
			totals[i] += value
			if value != 0 {
				values = append(values, fmt.Sprintf("%s=%d", p.SampleType[i].Type, value))
			}
		}
		for key, texts := range sample.Label {
			said = append(said, key+"="+strings.Join(texts, "|"))
		}
		sort.Strings(said)
		for _, location := range sample.Location {
			for _, line := range location.Line {
				path = append(path, line.Function.Name)
			}
		}
		fmt.Printf("sample %s %s %s\n", strings.Join(values, ","), strings.Join(said, ","), strings.Join(path, ";"))
	}
	var sums, named []string
	for i, of := range p.SampleType {
		sums = append(sums, fmt.Sprintf("%s/%s=%d", of.Type, of.Unit, totals[i]))
	}
	for name, value := range labels {
		named = append(named, name+"="+value)
	}
	sort.Strings(named)
	fmt.Printf("profile %s %d %s\n", strings.Join(named, ","), len(p.Sample), strings.Join(sums, " "))
	return nil
}

type pusher struct{}

func (pusher) Push(_ context.Context, request *connect.Request[pushv1.PushRequest]) (*connect.Response[pushv1.PushResponse], error) {
	for _, series := range request.Msg.Series {
		labels := map[string]string{}
		for _, label := range series.Labels {
			labels[label.Name] = label.Value
		}
		for _, sample := range series.Samples {
			if len(sample.ID) != 36 {
				return nil, connect.NewError(connect.CodeInvalidArgument, fmt.Errorf("ID %q", sample.ID))
			}
			if err := show(labels, sample.RawProfile); err != nil {
				return nil, connect.NewError(connect.CodeInvalidArgument, err)
			}
		}
	}
	return connect.NewResponse(&pushv1.PushResponse{}), nil
}

// The messages of Parca's profilestore.proto, as its gateway takes them in JSON.
type writeRaw struct {
	Series []struct {
		Labels struct {
			Labels []struct{ Name, Value string }
		}
		Samples []struct{ RawProfile []byte }
	}
	Normalized bool
}

func parca(out http.ResponseWriter, in *http.Request) {
	var request writeRaw
	decoder := json.NewDecoder(in.Body)
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&request); err != nil {
		http.Error(out, err.Error(), http.StatusBadRequest)
		return
	}
	for _, series := range request.Series {
		labels := map[string]string{}
		for _, label := range series.Labels.Labels {
			labels[label.Name] = label.Value
		}
		for _, sample := range series.Samples {
			if err := show(labels, sample.RawProfile); err != nil {
				http.Error(out, err.Error(), http.StatusBadRequest)
				return
			}
		}
	}
	fmt.Fprint(out, "{}")
}

func main() {
	mux := http.NewServeMux()
	mux.Handle(pushv1connect.NewPusherServiceHandler(pusher{}))
	mux.HandleFunc("POST /api/profiles/writeraw", parca)
	guarded := http.HandlerFunc(func(out http.ResponseWriter, in *http.Request) {
		if len(os.Args) > 2 && in.Header.Get("Authorization") != "Bearer "+os.Args[2] {
			http.Error(out, "no", http.StatusUnauthorized)
			return
		}
		mux.ServeHTTP(out, in)
	})
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Args[1], guarded))
}
