# docker build -t bx . && docker run --rm -p 127.0.0.1:4141:4141 -v ./serve.toml:/etc/bx/serve.toml:ro bx
# docs/deploy.md tells more.
FROM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG VERSION="" COMMIT="" DATE=""
ARG BUILD=github.com/unifiedtoolprotocol/utp/cmd/internal/build
RUN CGO_ENABLED=0 go build -trimpath -ldflags "-s -w -X $BUILD.version=$VERSION -X $BUILD.commit=$COMMIT -X $BUILD.date=$DATE" -o /bx ./cmd/bx \
 && mkdir /licenses && cp LICENSE /licenses/ && go run ./internal/report notices > /licenses/THIRD_PARTY_LICENSES

FROM scratch
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY --from=build /licenses /licenses
COPY --from=build /bx /bx
USER 65532:65532
EXPOSE 4141 4142
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=15s --timeout=12s --start-period=5s CMD ["/bx", "serve", "--file", "/etc/bx/serve.toml", "--check-ready"]
ENTRYPOINT ["/bx"]
CMD ["serve", "--file", "/etc/bx/serve.toml", "--json"]
